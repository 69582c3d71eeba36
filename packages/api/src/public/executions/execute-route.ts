import type { CompileResult, JsonValue } from '@millrace/engine';
import { type FieldError, validationError } from '@millrace/errors/errors';
import { principalOf } from '@millrace/http/context';
import { sendStoredResponse } from '@millrace/http/idempotency';
import { pathId } from '@millrace/http/ids';
import { originOfStart } from '@millrace/http/origin';
import { HEADERS, response } from '@millrace/http/responses';
import { recordsOfStart } from '@millrace/runtime/start-row';
import type { Starter } from '@millrace/service/executions/accept';
import { faultsOfInput, faultsOfTrigger } from '@millrace/service/executions/startable';
import type { StartLookup } from '@millrace/service/executions/store';
import { refuseUnknownFiles } from '@millrace/service/files/input-files';
import { checkFingerprint } from '@millrace/service/idempotency/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AppDeps } from '../../app-deps.ts';
import { ExecuteBody } from './schema.ts';
import type { RespondToStart } from './start-response.ts';

type Execute = { Params: { id: string }; Body: ExecuteBody };

/** The response of every request that starts an execution. */
export const START_RESPONSE = response(
  'Accepted; the execution runs asynchronously.',
  Type.Ref('StartReceipt#'),
  {
    headers: { Location: HEADERS.location, 'Idempotent-Replayed': HEADERS.idempotentReplayed },
  },
);

/** Why a workflow can't be started, in addition to the problems of every request. */
export const START_PROBLEMS = [
  'workflow_inactive',
  'workflow_archived',
  'organisation_paused',
  'queue_full',
  'storage_full',
] as const;

/** `POST /workflows/{id}/execute`. */
export function executeRoute(
  app: FastifyInstance,
  { plans, files }: AppDeps,
  starter: Starter,
  respondToStart: RespondToStart,
): void {
  const lookups = new WeakMap<FastifyRequest, StartLookup>();
  const early = createEarlyLookups(starter);
  const lookUp = (request: FastifyRequest<Execute>): Promise<StartLookup> =>
    starter.lookUp(
      principalOf(request).organisationId,
      pathId(request.params.id, 'workflow'),
      request.idempotencyKey,
    );
  const schema = {
    operationId: 'executeWorkflow',
    summary: 'Start a workflow',
    description:
      'Draft and active workflows can be started. The execution keeps the saved version it started with. Poll it at `polling_url`, with `?wait=60` for a long poll.',
    tags: ['Executions'],
    body: ExecuteBody,
    response: { 202: START_RESPONSE },
  };
  const options = {
    config: {
      scope: 'executions:execute',
      idempotent: true,
      emptyBodyIsObject: true,
      problems: START_PROBLEMS,
      lookAhead: (request: FastifyRequest, organisationId: number) => early.begin(request, organisationId),
    },
    schema,
  } as const;
  app.post<Execute>(
    '/api/v1/workflows/:id/execute',
    {
      ...options,
      // Before validation, because a repeated request gets its response first; the start uses the same look-up.
      preValidation: async (request, reply) => {
        if (!ID.test(request.params.id)) return undefined;
        const found = await (early.take(request) ?? lookUp(request));
        const idempotencyKey = request.idempotencyKey;
        if (idempotencyKey !== null && found.record !== null) {
          return sendStoredResponse(reply, {
            response: checkFingerprint(idempotencyKey, found.record),
            replayed: true,
          });
        }
        lookups.set(request, found);
        return undefined;
      },
    },
    async (request, reply) => {
      const input = (request.body.input_data ?? {}) as JsonValue;
      const { trigger = null } = request.body;
      const found = lookups.get(request) ?? (await lookUp(request));
      return respondToStart(
        {
          idempotencyKey: request.idempotencyKey,
          origin: originOfStart(request),
          found,
          lookUp: () => lookUp(request),
          prepare: async (workflow) => {
            const compiled = await plans.get(workflow.id, workflow.version);
            refuse(faultsOfTrigger(compiled, trigger, '/trigger'));
            await refuseInput(compiled, input, workflow.organisationId);
            if (request.bodyMayNameFiles) {
              await refuseUnknownFiles(files, workflow.organisationId, input);
            }
            const records = recordsOfStart(compiled, trigger, { data: input }, found.now);
            return { version: workflow.version, input, triggerType: 'api', compiled, records };
          },
        },
        reply,
      );
    },
  );
}

const ID = /^[1-9]\d{0,14}$/;
/** An older look-up, of a request whose body took longer to arrive, is repeated: archiving and pausing apply at once. */
const EARLY_MS = 250;

interface EarlyLookup {
  readonly organisationId: number;
  readonly workflowId: number;
  readonly found: Promise<StartLookup>;
  readonly at: number;
}

/**
 * Look-ups that start in parallel with that of the request's key, which saves a round trip to the database. Requests with an Idempotency-Key
 * look up more, and later.
 */
function createEarlyLookups(starter: Starter) {
  const lookups = new WeakMap<FastifyRequest, EarlyLookup>();
  return {
    begin(request: FastifyRequest, organisationId: number): void {
      const { id = '' } = request.params as Partial<Execute['Params']>;
      if (request.headers['idempotency-key'] !== undefined || !ID.test(id)) return;
      const workflowId = Number(id);
      const found = starter.lookUp(organisationId, workflowId, null);
      // Reported to whoever takes it; the request may be refused before.
      found.catch(() => {});
      lookups.set(request, { organisationId, workflowId, found, at: performance.now() });
    },
    /** Undefined if there is none, or if it is for another workflow or too old. */
    take(request: FastifyRequest<Execute>): Promise<StartLookup> | undefined {
      const lookup = lookups.get(request);
      if (lookup === undefined || performance.now() - lookup.at > EARLY_MS) return undefined;
      const isSame =
        lookup.organisationId === principalOf(request).organisationId &&
        // It differs if the path has an id from the instance that the organisation was moved from.
        lookup.workflowId === Number(request.params.id);
      return isSame ? lookup.found : undefined;
    },
  };
}

/**
 * @param at JSON Pointer of the input in the body
 * @throws ApiError 422 if the workflow declares an input schema and the input doesn't match it
 */
export async function refuseInput(
  compiled: CompileResult,
  input: JsonValue,
  organisationId: number,
  at = '/input_data',
): Promise<void> {
  refuse(await faultsOfInput(compiled, input, organisationId, at));
}

/** @throws ApiError 422 unless the list is empty */
export function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw validationError(errors);
}
