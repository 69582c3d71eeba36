import type { Queryable } from '@millrace/database/database';
import type { CompileResult, JsonObject, JsonValue, Plan } from '@millrace/engine';
import { ApiError, notFound } from '@millrace/errors/errors';
import { type KeptFiles, withKeptFiles } from '@millrace/http/keep-files';
import { startOrigin } from '@millrace/http/origin';
import type { ArrivingFile } from '@millrace/http/parts';
import { response } from '@millrace/http/responses';
import { createWatcher } from '@millrace/http/watcher';
import { message } from '@millrace/messages';
import { recordsOfStart, type StartableWorkflow, type StartOrder } from '@millrace/runtime/start-row';
import { type Watch, waitForEnd } from '@millrace/runtime/watch';
import type { Starter } from '@millrace/service/executions/accept';
import { organisationPaused } from '@millrace/service/executions/startable';
import { findChanges, findExecution, findStatus, type StartLookup } from '@millrace/service/executions/store';
import { WEBHOOK_TRIGGER } from '@millrace/service/webhooks/closed';
import { createKeySets } from '@millrace/service/webhooks/jwt';
import {
  acceptedMethods,
  answerProven,
  answerUnproven,
  keptRequest,
  matchPath,
  type ReceivedRequest,
  readsBody,
} from '@millrace/triggers';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AddressDeps } from '../deps.ts';
import {
  closeUnread,
  keepOrLeaveBodies,
  readArriving,
  readRest,
  refuseUnread,
  unreadBody,
} from './arriving.ts';
import { readWebhookBody } from './body.ts';
import { type Reached, respondingNodes, waitForResponse } from './by-node.ts';
import { capture } from './capture.ts';
import { sendChallenge } from './challenge.ts';
import { eventOf, type StartedCall, startEvent } from './deliver.ts';
import { checkAddress, checkCall, createGuards, type Guard, type Reachable } from './guard.ts';
import { readPatiently } from './patient.ts';
import { respondFromNode, respondWithResult } from './respond.ts';
import { WaitingCallers } from './waiting-callers.ts';

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

/** `/webhooks/{hash}`: by POST, and by the methods and paths that its trigger accepts. */
export function webhookRoutes(app: FastifyInstance, deps: AddressDeps, starter: Starter): void {
  app.addSchema(WebhookReceipt);
  // In its own scope, because no other endpoint accepts other types of bodies.
  app.register(async (scope) => {
    keepOrLeaveBodies(scope);
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
  'keys_unreachable',
  'too_many_callers',
  'ip_not_allowed',
  'validation_failed',
  'execution_failed',
  'unusable_response',
  'file_too_large',
  'file_store_unavailable',
] as const;

/** Whatever a call says that it accepts: a workflow defines the response. */
const ANYTHING = ['application/json', 'text/plain', 'text/html', 'image/*', '*/*'] as const;
const ACCEPTABLE = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

type Call = { Params: { hash: string } };

function addReceive(app: FastifyInstance, deps: AddressDeps, starter: Starter): void {
  const schema = {
    operationId: 'receiveWebhook',
    summary: 'Start a workflow whose trigger is a webhook',
    description:
      'The body is any JSON value, or a form, which is taken as an object; no body counts as `{}`. The workflow reads it as `{{trigger.data.<field>}}`. The settings of its trigger may require a signature, allow only certain addresses, recognise repeated events (the receipt then names the first execution), or respond with the result of the workflow instead of the receipt. They may also accept other methods, a path after the hash and other types of bodies, which this document does not describe.',
    tags: ['Webhooks'],
    response: {
      202: response('Accepted; the execution runs asynchronously.', Type.Ref('WebhookReceipt#')),
      '2xx': {
        description:
          "With `respond: when_done` or `by_node`: the status, headers and body of the workflow's response. It may use any other status from 200, too.",
        content: { 'application/json': { schema: Type.Unknown() }, 'text/plain': { schema: Type.String() } },
      },
    },
  };
  const guardsOf = createGuards(deps);
  const { openSecret } = deps;
  const check = { openSecret, publicUrl: deps.config.publicUrl, keySets: createKeySets(deps.egress) };
  const callers = new WaitingCallers(deps.config.limits);
  const watcher = createWatcher(app, deps.notifier);
  const config = { public: true, webhook: true, problems: PROBLEMS } as const;
  app.post<Call>('/api/v1/webhooks/:hash', { config, schema }, receive);
  const more = {
    config: { ...config, byTrigger: true, produces: ANYTHING },
    schema: { hide: true },
  } as const;
  for (const [url, methods] of [
    ['/api/v1/webhooks/:hash', ACCEPTABLE.filter((method) => method !== 'POST')],
    ['/api/v1/webhooks/:hash/*', ACCEPTABLE],
  ] as const) {
    app.route<Call>({ ...more, url, method: [...methods], exposeHeadRoute: false, handler: receive });
  }

  async function receive(request: FastifyRequest<Call>, reply: FastifyReply): Promise<FastifyReply> {
    try {
      return await take(request, reply);
    } catch (error) {
      closeUnread(request, reply);
      throw error;
    }
  }

  async function take(request: FastifyRequest<Call>, reply: FastifyReply): Promise<FastifyReply> {
    const { hash } = request.params;
    const received = toReceived(request);
    // Before anything is looked up, as for every request; what may be a file waits until it is known whose it is.
    const body = await settled(readEarly(request));
    const found = HASH.test(hash) ? await starter.lookUpAddress({ hash, trigger: WEBHOOK_TRIGGER }) : null;
    const workflow = found?.workflow ?? null;
    if (found === null || workflow === null) {
      request.forgetSecret?.();
      throw unknownAddress(received, body);
    }
    const compiled = await deps.plans.get(workflow.id, workflow.version);
    const reached = reach(await guardsOf(workflow, compiled), received);
    if (reached === null) throw unknownAddress(received, body);
    const { guard, params } = reached;
    checkAddress(guard, request);
    const open = (credentialId: number) => openSecret(workflow.organisationId, credentialId);
    const { challenge } = guard;
    const unproven = challenge === null ? null : answerUnproven(challenge, received);
    if (unproven !== null) return sendChallenge(reply, unproven, guard, open);
    refuseMethod(received, acceptedMethods(guard));
    if (guard.body === 'json' && 'error' in body) throw body.error;
    if (guard.body !== 'files' || (guard.signature !== null && readsBody(guard.signature.preset)))
      await readRest(request);
    await checkCall(guard, request, workflow, found.now, check);
    return withKeptFiles(deps.files, workflow.organisationId, request.log, async (kept) => {
      const arriving = unreadBody(request);
      const data = await readData(request, guard, body, kept);
      // A file may take minutes, in which the workflow may have been archived or paused.
      const latest =
        arriving === null ? found : await starter.lookUpAddress({ hash, trigger: WEBHOOK_TRIGGER });
      if (latest.workflow === null) throw notFound('webhook');
      request.rawBody = null;
      const proven = challenge === null ? null : answerProven(challenge, data);
      if (proven !== null) {
        await kept.giveUp();
        return await sendChallenge(reply, proven, guard, open);
      }
      if (latest.isPaused) throw organisationPaused();
      const order = orderOf(latest, workflow, compiled, guard.nodeId, request, {
        data,
        files: kept.values.map(({ $file }) => $file),
        request: keptRequest(guard, received, params, provingNames(guard.signature)),
      });
      const run = async () => {
        const started = await start(request, guard, order, latest.isListening);
        if (!started.isFirst) await kept.giveUp();
        return started;
      };
      const nodeIds = respondersOf(guard, compiled);
      if (compiled.kind === 'invalid' || nodeIds === 'nobody') return sendReceipt(reply, await run());
      return await respondFromWorkflow(request, reply, { guard, order, plan: compiled.plan, nodeIds, run });
    });
  }

  async function readEarly(request: FastifyRequest): Promise<JsonValue> {
    refuseUnread(request);
    return readWebhookBody(request, 'json', deps.config);
  }

  /** @param early the body as JSON, or why it isn't */
  async function readData(
    request: FastifyRequest,
    guard: Guard,
    early: Settled,
    kept: KeptFiles,
  ): Promise<JsonValue> {
    if (guard.body === 'json' && 'value' in early) return early.value;
    const keepFile = guard.body === 'files' ? (file: ArrivingFile) => kept.keep(file) : null;
    const arriving = unreadBody(request);
    if (arriving !== null && keepFile !== null) return readArriving(request, arriving, keepFile);
    return readWebhookBody(request, guard.body, deps.config, keepFile);
  }

  /** Starts the workflow and waits for its result, or for the response of a node; the receipt if none comes in time. */
  async function respondFromWorkflow(
    request: FastifyRequest,
    reply: FastifyReply,
    { guard, order, plan, nodeIds, run }: Responding,
  ): Promise<FastifyReply> {
    const { executionId } = order;
    const { organisationId } = order.workflow;
    const leave = callers.enter(organisationId);
    // Watched before it starts, so that its end isn't missed.
    const watch = watcher(executionId, reply);
    try {
      const started = await run();
      if (!started.isFirst) return sendReceipt(reply, started);
      // The end may be far away, and the body has been stored.
      request.bodyRoom?.release();
      const reading = { organisationId, executionId, watch, timeoutMs: guard.timeout_s * 1_000 };
      const came = nodeIds === null ? await untilEnd(reading) : await untilAnswered(reading, nodeIds);
      const failure = { status: guard.failure_status, maxBytes: deps.config.limits.nodeOutputBytes };
      if (came?.kind === 'response')
        return respondFromNode(request, reply, came.response, failure.status, executionId);
      if (came !== null && (nodeIds === null || came.row.status !== 'completed'))
        return respondWithResult(request, reply, plan, came.row, failure);
      if (came !== null)
        return sendReceipt(reply, started, 'The workflow was started and has finished without a response.');
      // A closing service waits for its connections, and this one would be kept open for the next request.
      if (watch.isOver) reply.header('connection', 'close');
      return sendReceipt(reply, started, 'The workflow was started and is still running.');
    } finally {
      watch.close();
      leave();
    }
  }

  interface Responding {
    readonly guard: Guard;
    readonly order: StartOrder;
    readonly plan: Plan;
    /** The nodes that may respond; null: the result of the workflow does. */
    readonly nodeIds: ReadonlySet<string> | null;
    readonly run: () => Promise<ReceivedCall>;
  }

  interface Waiting {
    readonly organisationId: number;
    readonly executionId: number;
    readonly watch: Watch;
    readonly timeoutMs: number;
  }

  async function untilEnd({ organisationId, executionId, watch, timeoutMs }: Waiting): Promise<Reached> {
    const read = <Row>(find: (tx: Queryable, organisationId: number, executionId: number) => Promise<Row>) =>
      readPatiently(
        () => deps.db.forOrganisation(organisationId, (tx) => find(tx, organisationId, executionId)),
        watch,
        timeoutMs,
      );
    if ((await waitForEnd(watch, read(findStatus), timeoutMs)) === null) return null;
    const row = await read(findExecution)();
    return row === undefined ? null : { kind: 'ended', row };
  }

  async function untilAnswered(
    { organisationId, executionId, watch, timeoutMs }: Waiting,
    nodeIds: ReadonlySet<string>,
  ): Promise<Reached> {
    const read = (afterSeq: number) =>
      deps.db.forOrganisation(organisationId, (tx) => findChanges(tx, organisationId, executionId, afterSeq));
    return waitForResponse(watch, readPatiently(read, watch, timeoutMs), nodeIds, timeoutMs);
  }

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
    const event = guard.deduplicate === null ? null : eventOf(guard, guard.deduplicate, request, order.input);
    if (event !== null) return startEvent(deps.db, starter, event, order);
    await starter.start(order);
    return { executionId: order.executionId, isFirst: true };
  }
}

/** The nodes whose response a caller waits for; null: the result of the workflow; `nobody`: the caller gets the receipt. */
function respondersOf({ respond }: Guard, compiled: CompileResult): ReadonlySet<string> | null | 'nobody' {
  if (respond === 'immediately' || compiled.kind === 'invalid') return 'nobody';
  if (respond !== 'by_node') return null;
  const nodeIds = respondingNodes(compiled.plan);
  return nodeIds.size === 0 ? 'nobody' : nodeIds;
}

function orderOf(
  { executionId, now: acceptedAt }: StartLookup,
  workflow: StartableWorkflow,
  compiled: CompileResult,
  nodeId: string,
  request: FastifyRequest,
  call: {
    readonly data: JsonValue;
    readonly files: readonly string[];
    readonly request: JsonObject | null;
  },
): StartOrder {
  const { data: input, files, request: kept } = call;
  const { version } = workflow;
  const origin = startOrigin(request);
  const order = {
    executionId,
    acceptedAt,
    workflow,
    version,
    triggerType: 'webhook',
    input,
    compiled,
    origin,
    ...(files.length === 0 ? {} : { files }),
  };
  const more = kept === null ? {} : { request: kept };
  return {
    ...order,
    ...(compiled.kind === 'invalid' ? {} : more),
    records: recordsOfStart(compiled, nodeId, { data: input, ...more }, acceptedAt),
  };
}

/** The first webhook whose path matches what follows the hash, and the parts of it that have names. */
function reach(
  reachable: readonly Reachable[],
  { rest }: ReceivedRequest,
): { readonly guard: Guard; readonly params: JsonObject } | null {
  for (const { path, guard } of reachable) {
    const params = matchPath(path, rest);
    if (params !== null) return { guard: guard(), params };
  }
  return null;
}

/** What follows the hash in the address of a call. */
const REST = /^\/api\/v1\/webhooks\/[^/?]*\/?([^?]*)(?:\?(.*))?$/s;

function toReceived({ method, url, headers }: FastifyRequest): ReceivedRequest {
  const [, rest = '', query = ''] = REST.exec(url) ?? [];
  return { method, rest, headers, query: new URLSearchParams(query) };
}

/** Headers and parameters that prove who calls, by the settings of the check: their names may say nothing about that. */
function provingNames(signature: Guard['signature']): readonly string[] {
  return signature === null ? [] : [signature.name, signature.header].map((name) => name.toLowerCase());
}

type Settled = { readonly value: JsonValue } | { readonly error: unknown };

async function settled(reading: Promise<JsonValue>): Promise<Settled> {
  return reading.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

/** The same whether the webhook doesn't exist, isn't open or has another path; other methods say only what every webhook accepts. */
function unknownAddress({ method, rest }: ReceivedRequest, body: Settled): unknown {
  if (method !== 'POST' && rest === '') return wrongMethod(['POST']);
  return 'error' in body ? body.error : notFound('webhook');
}

/** @throws ApiError `method_not_allowed` */
function refuseMethod({ method }: ReceivedRequest, accepted: readonly string[]): void {
  if (!accepted.includes(method)) throw wrongMethod(accepted);
}

function wrongMethod(accepted: readonly string[]): ApiError {
  const allow = accepted.join(', ');
  return new ApiError('method_not_allowed', message('api.method_not_allowed', { methods: allow }), {
    headers: { allow },
  });
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
