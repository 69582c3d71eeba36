import { isUtf8 } from 'node:buffer';
import { type CompileResult, type JsonValue, setOwn } from '@millrace/engine';
import { ApiError, notFound } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { StartableWorkflow, StartOrder } from '@millrace/runtime/start-row';
import { waitForEnd } from '@millrace/runtime/watch';
import type { Starter } from '@millrace/service/executions/accept';
import { organisationPaused } from '@millrace/service/executions/startable';
import { findExecution, findStatus, type StartLookup } from '@millrace/service/executions/store';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AppDeps } from '../../http/app-deps.ts';
import { addForeignJsonBodies } from '../../http/body.ts';
import { startOrigin } from '../../http/origin.ts';
import { response } from '../../http/responses.ts';
import { createWatcher } from '../executions/watcher.ts';
import { capture } from './capture.ts';
import { eventOf, type StartedCall, startEvent } from './deliver.ts';
import { checkCall, createGuards, type Guard } from './guard.ts';
import { respondWithResult } from './respond.ts';

const HASH = /^[A-Za-z0-9_-]{43}$/;

export const WebhookReceipt = Type.Object(
  {
    success: Type.Literal(true),
    execution_id: Type.Integer({ minimum: 1 }),
    message: Type.String(),
    captured: Type.Boolean({
      description: 'Whether a listening editor took this call as its sample.',
    }),
  },
  { $id: 'WebhookReceipt', additionalProperties: false },
);

/** `POST /webhooks/{hash}`. */
export function webhookRoutes(app: FastifyInstance, deps: AppDeps, starter: Starter): void {
  app.addSchema(WebhookReceipt);
  // In its own scope, because no other endpoint accepts forms.
  app.register(async (scope) => {
    addForeignJsonBodies(scope, deps.config);
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer' },
      (request, bytes, done) => {
        request.rawBody = bytes as Buffer;
        try {
          done(null, parseForm(bytes as Buffer));
        } catch (error) {
          done(error instanceof Error ? error : new Error(String(error)), undefined);
        }
      },
    );
    addReceive(scope, deps, starter);
  });
}

/** Errors a webhook can respond with besides those of every request. */
const PROBLEMS = [
  'organisation_paused',
  'queue_full',
  'storage_full',
  'invalid_signature',
  'stale_signature',
  'ip_not_allowed',
  'validation_failed',
  'execution_failed',
  'unusable_response',
] as const;

function addReceive(app: FastifyInstance, deps: AppDeps, starter: Starter): void {
  const schema = {
    operationId: 'receiveWebhook',
    summary: 'Start a workflow whose trigger is a webhook',
    description:
      'The body is any JSON value, or a form, which is taken as an object; no body counts as `{}`. The workflow reads it as `{{trigger.data.<field>}}`. The settings of its trigger may require a signature, allow only certain addresses, recognise repeated events (the receipt then names the first execution), or respond with the result of the workflow instead of the receipt.',
    tags: ['Webhooks'],
    response: {
      202: response('Accepted; the execution runs asynchronously.', Type.Ref('WebhookReceipt#')),
      '2xx': {
        description:
          "With `respond: when_done`: the status, headers and body of the workflow's response. It may use any other status from 200, too.",
        content: { 'application/json': { schema: Type.Unknown() }, 'text/plain': { schema: Type.String() } },
      },
    },
  };
  const guardOf = createGuards(deps);
  const watcher = createWatcher(app, deps.notifier);
  const options = {
    config: { public: true, webhook: true, emptyBodyIsObject: true, problems: PROBLEMS },
    schema,
  } as const;
  app.post<{ Params: { hash: string } }>('/api/v1/webhooks/:hash', options, async (request, reply) => {
    const { hash } = request.params;
    const found = HASH.test(hash) ? await starter.lookUpWebhook(hash) : null;
    const workflow = found?.workflow ?? null;
    if (found === null || workflow === null) {
      request.forgetSecret?.();
      throw notFound('webhook');
    }
    const compiled = await deps.plans.get(workflow.id, workflow.version);
    const guard = await guardOf(workflow, compiled);
    await checkCall(guard, request, workflow, found.now, deps.openSecret);
    request.rawBody = null;
    if (found.isPaused) throw organisationPaused();
    const order = orderOf(found, workflow, compiled, request);
    const { isListening } = found;
    if (guard.respond === 'immediately' || compiled.kind === 'invalid') {
      return sendReceipt(reply, await start(request, guard, order, isListening));
    }
    // Watched before it starts, so that its end isn't missed.
    const watch = watcher(order.executionId, reply);
    try {
      const started = await start(request, guard, order, isListening);
      if (!started.isFirst) return sendReceipt(reply, started);
      // The end may be far away, and the body has been stored.
      request.bodyRoom?.release();
      const { organisationId } = workflow;
      const { executionId } = order;
      const read = () =>
        deps.db.forOrganisation(organisationId, (tx) => findStatus(tx, organisationId, executionId));
      const hasEnded = (await waitForEnd(watch, read, guard.timeout_s * 1_000)) !== null;
      const ended = hasEnded
        ? await deps.db.forOrganisation(organisationId, (tx) =>
            findExecution(tx, organisationId, executionId),
          )
        : undefined;
      if (ended === undefined) {
        // A closing service waits for its connections, and this one would be kept open for the next request.
        if (watch.isOver) reply.header('connection', 'close');
        return sendReceipt(reply, started, 'The workflow was started and is still running.');
      }
      const failure = { status: guard.failure_status, maxBytes: deps.config.limits.nodeOutputBytes };
      return respondWithResult(request, reply, compiled.plan, ended, failure);
    } finally {
      watch.close();
    }
  });

  async function start(
    request: FastifyRequest,
    guard: Guard,
    order: StartOrder,
    isListening: boolean,
  ): Promise<ReceivedCall> {
    const started = await startOnce(request, guard, order);
    const { executionId } = started;
    const data = order.input;
    const call = { executionId, data, isRepeat: !started.isFirst };
    const captured = isListening && (await capture(deps.db, request, order.workflow, call));
    return { ...started, captured };
  }

  async function startOnce(request: FastifyRequest, guard: Guard, order: StartOrder): Promise<StartedCall> {
    const event = guard.deduplicate === null ? null : eventOf(guard.deduplicate, request, order.input);
    if (event !== null) return startEvent(deps.db, starter, event, order);
    await starter.start(order);
    return { executionId: order.executionId, isFirst: true };
  }
}

function orderOf(
  { executionId, now: acceptedAt }: StartLookup,
  workflow: StartableWorkflow,
  compiled: CompileResult,
  request: FastifyRequest,
): StartOrder {
  const { version } = workflow;
  const input = request.body as JsonValue;
  const origin = startOrigin(request);
  return { executionId, acceptedAt, workflow, version, triggerType: 'webhook', input, compiled, origin };
}

const STARTED = 'The workflow was started.';
const REPEATED =
  'This event was already received and started the execution named here. Nothing was started now.';

/** A call's result, and whether an editor stored it as the sample. */
interface ReceivedCall extends StartedCall {
  readonly captured: boolean;
}

function sendReceipt(
  reply: FastifyReply,
  { executionId, isFirst, captured }: ReceivedCall,
  message = isFirst ? STARTED : REPEATED,
): FastifyReply {
  return reply.code(202).send({ success: true, execution_id: executionId, message, captured });
}

/** A form as an object of strings; a repeated name has the list of its values. */
function parseForm(bytes: Buffer): JsonValue {
  if (!isUtf8(unescapeBytes(bytes))) throw new ApiError('invalid_body', message('api.form_not_utf8'));
  const fields: { [name: string]: JsonValue } = {};
  const values = Map.groupBy(new URLSearchParams(bytes.toString('utf8')), ([name]) => name);
  for (const [name, pairs] of values) {
    const texts = pairs.map(([, text]) => text);
    setOwn(fields, name, texts.length === 1 ? (texts[0] ?? '') : texts);
  }
  return fields;
}

/** The bytes represented by a form's percent escapes, and every other byte unchanged. */
function unescapeBytes(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  if (!text.includes('%')) return bytes;
  const plain = text.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, 'latin1');
}
