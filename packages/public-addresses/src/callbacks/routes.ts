import type { JsonValue } from '@millrace/engine';
import { ApiError, notFound } from '@millrace/errors/errors';
import { addForeignJsonBodies } from '@millrace/http/body';
import { response } from '@millrace/http/responses';
import { message } from '@millrace/messages';
import { hashToken } from '@millrace/service/callbacks/tokens';
import { type Use, useCallback } from '@millrace/service/callbacks/use';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { AddressDeps } from '../deps.ts';
import { approvalRoutes } from './approval-routes.ts';

export const CallbackReceipt = Type.Object(
  { success: Type.Literal(true), message: Type.String() },
  { $id: 'CallbackReceipt', additionalProperties: false },
);

/** `POST /callbacks/{token}`, and the pages of approvals. */
export function callbackRoutes(app: FastifyInstance, deps: AddressDeps): void {
  app.addSchema(CallbackReceipt);
  // In its own scope, because other endpoints declare how JSON is sent.
  app.register(async (scope) => {
    addForeignJsonBodies(scope, deps.config);
    addReceive(scope, deps);
  });
  approvalRoutes(app, deps);
}

function addReceive(app: FastifyInstance, { db }: AddressDeps): void {
  const schema = {
    operationId: 'receiveCallback',
    summary: 'Resume an execution that waits for this callback',
    description:
      'The URL is issued by a node that waits for it, and works once. The body is any JSON value; no body counts as `{}`. An object is the output of the node, any other value its `data`.',
    tags: ['Callbacks'],
    response: { 200: response('Accepted; the execution continues.', Type.Ref('CallbackReceipt#')) },
  };
  const options = {
    config: {
      public: true,
      callback: true,
      extension: true,
      emptyBodyIsObject: true,
      problems: ['callback_used', 'callback_expired', 'execution_ended', 'organisation_paused'],
    },
    schema,
  } as const;
  app.post<{ Params: { token: string } }>('/api/v1/callbacks/:token', options, async (request) => {
    const hash = hashToken(request.params.token);
    const use = hash === null ? 'unknown' : await useCallback(db, hash, request.body as JsonValue);
    if (use === 'unknown') request.forgetSecret?.();
    if (use !== 'accepted') throw refusal(use);
    return { success: true, message: 'The execution continues.' };
  });
}

function refusal(use: Exclude<Use, 'accepted'>): ApiError {
  switch (use) {
    case 'unknown':
      return notFound('callback');
    case 'used':
      return new ApiError('callback_used', message('api.callback_used'));
    case 'expired':
      return new ApiError('callback_expired', message('api.callback_expired'));
    case 'ended':
      return new ApiError('execution_ended', message('api.callback_execution_ended'));
  }
}
