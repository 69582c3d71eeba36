import { notFound } from '@millrace/errors/errors';
import { withKeptFiles } from '@millrace/http/keep-files';
import { response } from '@millrace/http/responses';
import { createWatcher } from '@millrace/http/watcher';
import type { Starter } from '@millrace/service/executions/accept';
import { organisationPaused } from '@millrace/service/executions/startable';
import { WEBHOOK_TRIGGER } from '@millrace/service/webhooks/closed';
import { createKeySets } from '@millrace/service/webhooks/jwt';
import { acceptedMethods, answerProven, answerUnproven, keptRequest, readsBody } from '@millrace/triggers';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AddressDeps } from '../deps.ts';
import { type OpenAddress, openAddress, orderOf } from '../open-address.ts';
import { closeUnread, keepOrLeaveBodies, readRest, unreadBody } from './arriving.ts';
import { readData, readEarly } from './call-data.ts';
import { reach, refuseMethod, toReceived, unknownAddress } from './called-webhook.ts';
import { sendChallenge } from './challenge.ts';
import { checkAddress, checkCall, createGuards, type Guard } from './guard.ts';
import { respondersOf, respondFromWorkflow } from './respond-later.ts';
import { sendReceipt, startCall, WebhookReceipt } from './start-call.ts';
import { WaitingCallers } from './waiting-callers.ts';

/** `/webhooks/{hash}`: by POST, and by the methods and paths that its trigger accepts. */
export function webhookRoutes(app: FastifyInstance, deps: AddressDeps, starter: Starter): void {
  app.addSchema(WebhookReceipt);
  // In its own scope, because no other endpoint accepts other types of bodies.
  app.register(async (scope) => {
    keepOrLeaveBodies(scope);
    const take = createTake(scope, deps, starter);
    addRoutes(scope, async (request, reply) => {
      try {
        return await take(request, reply);
      } catch (error) {
        closeUnread(request, reply);
        throw error;
      }
    });
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

const SCHEMA = {
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

type Call = { Params: { hash: string } };
type Take = (request: FastifyRequest<Call>, reply: FastifyReply) => Promise<FastifyReply>;

function addRoutes(app: FastifyInstance, handler: Take): void {
  const config = { public: true, webhook: true, problems: PROBLEMS } as const;
  app.post<Call>('/api/v1/webhooks/:hash', { config, schema: SCHEMA }, handler);
  const more = {
    config: { ...config, byTrigger: true, produces: ANYTHING },
    schema: { hide: true },
  } as const;
  for (const [url, methods] of [
    ['/api/v1/webhooks/:hash', ACCEPTABLE.filter((method) => method !== 'POST')],
    ['/api/v1/webhooks/:hash/*', ACCEPTABLE],
  ] as const) {
    app.route<Call>({ ...more, url, method: [...methods], exposeHeadRoute: false, handler });
  }
}

/** Takes a call: finds its webhook, checks what it proves, reads its data, starts the workflow and responds. */
function createTake(app: FastifyInstance, deps: AddressDeps, starter: Starter): Take {
  const { db, plans, openSecret, config } = deps;
  const guardsOf = createGuards(deps);
  const check = { openSecret, publicUrl: config.publicUrl, keySets: createKeySets(deps.egress) };
  const callers = new WaitingCallers(config.limits);
  const watcher = createWatcher(app, deps.notifier);
  const waiting = { db, callers, watcher, maxBytes: config.limits.nodeOutputBytes };

  return async (request, reply) => {
    const received = toReceived(request);
    // Before anything is looked up, as for every request; what may be a file waits until it is known whose it is.
    const body = await readEarly(request, config);
    const address = await openAddress({ starter, plans }, request, WEBHOOK_TRIGGER);
    if (address === null) throw unknownAddress(received, body);
    const { workflow, compiled } = address;
    const reached = reach(await guardsOf(workflow, compiled), received);
    if (reached === null) throw unknownAddress(received, body);
    const { guard, params } = reached;
    checkAddress(guard, request);
    const { challenge, nodeId } = guard;
    const open = (credentialId: number) => openSecret(workflow.organisationId, credentialId);
    const unproven = challenge === null ? null : answerUnproven(challenge, received);
    if (unproven !== null) return sendChallenge(reply, unproven, guard, open);
    refuseMethod(received, acceptedMethods(guard));
    if (guard.body === 'json' && 'error' in body) throw body.error;
    if (guard.body !== 'files' || (guard.signature !== null && readsBody(guard.signature.preset)))
      await readRest(request);
    await checkCall(guard, request, workflow, address.found.now, check);
    return withKeptFiles(deps.files, workflow.organisationId, request.log, async (kept) => {
      // A file may take minutes, in which the workflow may have been archived or paused.
      const mayBeOutdated = unreadBody(request) !== null;
      const input = await readData(request, guard, body, kept, config);
      const found = mayBeOutdated ? await lookUpAgain(request) : address.found;
      request.rawBody = null;
      const proven = challenge === null ? null : answerProven(challenge, input);
      if (proven !== null) {
        await kept.giveUp();
        return await sendChallenge(reply, proven, guard, open);
      }
      if (found.isPaused) throw organisationPaused();
      const order = orderOf({ found, workflow, compiled }, request, {
        triggerType: 'webhook',
        nodeId,
        input,
        files: kept.values.map(({ $file }) => $file),
        kept: keptRequest(guard, received, params, provingNames(guard.signature)),
      });
      const start = async () => {
        const started = await startCall({ db, starter }, request, guard, order, found.isListening);
        if (!started.isFirst) await kept.giveUp();
        return started;
      };
      const nodeIds = respondersOf(guard, compiled);
      if (compiled.kind === 'invalid' || nodeIds === 'nobody') return sendReceipt(reply, await start());
      const { plan } = compiled;
      return await respondFromWorkflow(waiting, request, reply, { guard, order, plan, nodeIds, start });
    });
  };

  /** @throws ApiError 404 if the workflow is no longer open */
  async function lookUpAgain({ params: { hash } }: FastifyRequest<Call>): Promise<OpenAddress['found']> {
    const latest = await starter.lookUpAddress({ hash, trigger: WEBHOOK_TRIGGER });
    if (latest.workflow === null) throw notFound('webhook');
    return latest;
  }
}

/** Headers and parameters that prove who calls, by the settings of the check: their names may say nothing about that. */
function provingNames(signature: Guard['signature']): readonly string[] {
  return signature === null ? [] : [signature.name, signature.header].map((name) => name.toLowerCase());
}
