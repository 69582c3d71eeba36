import { stringifyJson } from '@millrace/engine';
import { principalOf } from '@millrace/http/context';
import { readKeyUse, sendStoredResponse } from '@millrace/http/idempotency';
import { pathId } from '@millrace/http/ids';
import { originOfStart } from '@millrace/http/origin';
import { presentFieldErrors } from '@millrace/http/problem';
import { HEADERS, response } from '@millrace/http/responses';
import { inEnglish } from '@millrace/messages/english';
import type { Starter } from '@millrace/service/executions/accept';
import { type BatchResult, MAX_BATCH_ITEMS, type StartBatch } from '@millrace/service/executions/batch';
import type { StartLookup } from '@millrace/service/executions/store';
import { fingerprintInTurns } from '@millrace/service/idempotency/fingerprint';
import { checkFingerprint, insertRecord, type StoredResponse } from '@millrace/service/idempotency/store';
import type { Turns } from '@millrace/service/turns';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AppDeps } from '../../app-deps.ts';
import { START_PROBLEMS } from './execute-route.ts';
import { BatchBody } from './schema.ts';
import { createStartOnce } from './start-once.ts';
import { receiptOf } from './start-response.ts';

type Batch = { Params: { id: string }; Body: BatchBody };

export interface BatchParts {
  readonly starter: Starter;
  readonly startBatch: StartBatch;
  readonly turns: Turns;
}

/** `POST /workflows/{id}/executions/batch`. */
export function batchRoute(app: FastifyInstance, { config }: AppDeps, parts: BatchParts): void {
  const { starter, startBatch, turns } = parts;
  const startOnce = createStartOnce();
  const lookups = new WeakMap<FastifyRequest, StartLookup>();
  const workflowIdOf = ({ params }: FastifyRequest<Batch>) => pathId(params.id, 'workflow');
  const lookUp = (request: FastifyRequest<Batch>): Promise<StartLookup> =>
    starter.lookUp(principalOf(request).organisationId, workflowIdOf(request), request.idempotencyKey);

  /** Null: a concurrent request with the same Idempotency-Key came first. */
  async function start(request: FastifyRequest<Batch>): Promise<StoredResponse | null> {
    const { organisationId, familyId } = principalOf(request);
    const { items, mode = 'all' } = request.body;
    const workflowId = workflowIdOf(request);
    const key = request.idempotencyKey;
    const results = await startBatch({
      organisationId,
      workflowId,
      items: items.map(({ idempotency_key: itemKey = null, ...body }) => ({ body, key: itemKey })),
      mode,
      keys: { familyId, route: `POST /api/v1/workflows/${workflowId}/execute` },
      triggerType: 'api',
      origin: originOfStart(request),
      receiptOf: (executionId, acceptedAt) => receiptOf(config.publicUrl, executionId, acceptedAt),
      ...(key === null ? {} : { within: (tx, all) => insertRecord(tx, key, toResponse(all)) }),
    });
    return results === null ? null : toResponse(results);
  }

  const schema = {
    operationId: 'executeWorkflowBatch',
    summary: 'Start a workflow many times',
    description: `Starts up to ${MAX_BATCH_ITEMS} executions at once. With \`mode: all\`, nothing starts if one item is refused; with \`mode: each\`, the others start. In both modes either all that is to start is stored, or nothing. The response lists the items in order. Every item counts as a request for the rate limit.`,
    tags: ['Executions'],
    body: BatchBody,
    response: {
      202: response('What became of each item.', Type.Ref('BatchReceipt#'), {
        headers: { 'Idempotent-Replayed': HEADERS.idempotentReplayed },
      }),
    },
  };
  const options = {
    bodyLimit: config.limits.batchBodyBytes,
    config: {
      scope: 'executions:execute',
      extension: true,
      idempotent: 'by_route',
      problems: START_PROBLEMS,
    },
    schema,
  } as const;
  app.post<Batch>(
    '/api/v1/workflows/:id/executions/batch',
    {
      ...options,
      // Before validation, because a repeated request gets its response first.
      preValidation: async (request, reply) => {
        const use = readKeyUse(request);
        if (use === null || !/^[1-9]\d{0,14}$/.test(request.params.id)) return undefined;
        const body = request.body ?? {};
        const fingerprint = await fingerprintInTurns(use.organisationId, body, turns);
        const key = { ...use, fingerprint };
        request.idempotencyKey = key;
        const found = await lookUp(request);
        lookups.set(request, found);
        if (found.record === null) return undefined;
        return sendStoredResponse(reply, { response: checkFingerprint(key, found.record), replayed: true });
      },
    },
    async (request, reply) => {
      request.countRequests?.(request.body.items.length - 1);
      const { idempotencyKey } = request;
      if (idempotencyKey !== null) {
        const found = lookups.get(request) ?? (await lookUp(request));
        const result = await startOnce(
          idempotencyKey,
          found,
          () => lookUp(request),
          () => start(request),
        );
        return sendStoredResponse(reply, result);
      }
      const stored = await start(request);
      if (stored === null) throw new Error('a batch without an Idempotency-Key found its record');
      return sendStoredResponse(reply, { response: stored, replayed: false });
    },
  );
}

function toResponse(results: readonly BatchResult[]): StoredResponse {
  const countOf = (outcome: BatchResult['outcome']) =>
    results.filter((result) => result.outcome === outcome).length;
  const counts = [...OUTCOMES.map((outcome) => `"${outcome}":${countOf(outcome)}`)].join(',');
  return { status: 202, location: null, body: `{${counts},"data":[${results.map(toEntry).join(',')}]}` };
}

const OUTCOMES = ['started', 'replayed', 'refused'] as const;

/** Receipts are inserted as they are stored, so that a replay is the same text. */
function toEntry(result: BatchResult): string {
  if (result.outcome !== 'refused') {
    return `{"outcome":"${result.outcome}","receipt":${result.receipt.body}}`;
  }
  const { code, explanation, errors = [] } = result.error;
  const problem = { code, detail: inEnglish(explanation), errors: presentFieldErrors(errors) };
  return `{"outcome":"refused","problem":${stringifyJson(problem)}}`;
}
