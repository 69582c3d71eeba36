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
  const lookUp = async (request: FastifyRequest<Execute>): Promise<StartLookup> => {
    const { organisationId } = principalOf(request);
    const workflowId = pathId(request.params.id, 'workflow');
    const found = starter.lookUp(organisationId, workflowId, request.idempotencyKey);
    // Whatever is found counts only if the key is valid.
    return (await Promise.all([found, request.confirmKey()]))[0];
  };
  // With an Idempotency-Key, the stored response has to be looked up first, in any case.
  const recall = async (request: FastifyRequest<Execute>): Promise<StartLookup | null> =>
    request.grant === null || request.idempotencyKey !== null
      ? null
      : starter.recall(
          principalOf(request).organisationId,
          pathId(request.params.id, 'workflow'),
          request.grant,
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
      recallsKey: true,
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
        const found = (await recall(request)) ?? (await lookUp(request));
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
          prepare: async (workflow, acceptedAt) => {
            const compiled = await plans.get(workflow.id, workflow.version);
            refuse(faultsOfTrigger(compiled, trigger, '/trigger'));
            await refuseInput(compiled, input, workflow.organisationId);
            if (request.bodyMayNameFiles) {
              await refuseUnknownFiles(files, workflow.organisationId, input);
            }
            const records = recordsOfStart(compiled, trigger, { data: input }, acceptedAt);
            return { version: workflow.version, input, triggerType: 'api', compiled, records };
          },
        },
        reply,
      );
    },
  );
}

const ID = /^[1-9]\d{0,14}$/;

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
