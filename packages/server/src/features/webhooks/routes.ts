import { isUtf8 } from 'node:buffer';
import type { JsonValue } from '@millrace/engine';
import { setOwn } from '@millrace/engine';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { AppDeps } from '../../app.ts';
import { ApiError, notFound } from '../../errors.ts';
import { answer } from '../../http/responses.ts';
import type { Starter } from '../executions/accept.ts';
import type { StartableWorkflow, StartLookup } from '../executions/store.ts';

const HASH = /^[A-Za-z0-9_-]{43}$/;

export const WebhookReceipt = Type.Object(
  {
    success: Type.Literal(true),
    execution_id: Type.Integer({ minimum: 1 }),
    message: Type.String(),
    captured: Type.Boolean({
      description: 'Whether an editor that was listening took this call as its sample.',
    }),
  },
  { $id: 'WebhookReceipt', additionalProperties: false },
);

/** `POST /webhooks/{hash}`. */
export function webhookRoutes(app: FastifyInstance, deps: AppDeps, starter: Starter): void {
  app.addSchema(WebhookReceipt);
  // In a scope of its own, because no other endpoint takes forms.
  app.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer' },
      (_request, bytes, done) => {
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

function addReceive(app: FastifyInstance, deps: AppDeps, starter: Starter): void {
  const schema = {
    operationId: 'receiveWebhook',
    summary: 'Start a workflow whose trigger is a webhook',
    description:
      'The body is any JSON value, or a form, which is taken as an object; no body counts as `{}`. The workflow reads it as `{{trigger.data.<field>}}`.',
    tags: ['Webhooks'],
    response: { 202: answer('Accepted; the execution runs on its own.', Type.Ref('WebhookReceipt#')) },
  };
  const options = { config: { public: true, webhook: true, emptyBodyIsObject: true }, schema } as const;
  app.post<{ Params: { hash: string } }>('/api/v1/webhooks/:hash', options, async (request, reply) => {
    const { hash } = request.params;
    const found = HASH.test(hash) ? await starter.lookUpWebhook(hash) : null;
    const workflow = found?.workflow ?? null;
    if (found === null || workflow === null) throw notFound('webhook');
    await start(found, workflow, request.body as JsonValue);
    return reply.code(202).send({
      success: true,
      execution_id: found.executionId,
      message: 'The workflow was started.',
      captured: false,
    });
  });

  async function start(found: StartLookup, workflow: StartableWorkflow, input: JsonValue): Promise<void> {
    const compiled = await deps.plans.get(workflow.id, workflow.version);
    const { executionId, now: acceptedAt } = found;
    const order = { executionId, acceptedAt, workflow, version: workflow.version };
    await starter.start({ ...order, triggerType: 'webhook', input, compiled });
  }
}

/** A form as an object of texts; a name that comes several times has the list of its values. */
function parseForm(bytes: Buffer): JsonValue {
  if (!isUtf8(unescapeBytes(bytes)))
    throw new ApiError(
      'invalid_body',
      'The form is not valid UTF-8. Encode it, its % escapes too, as UTF-8.',
    );
  const fields: { [name: string]: JsonValue } = {};
  const values = Map.groupBy(new URLSearchParams(bytes.toString('utf8')), ([name]) => name);
  for (const [name, pairs] of values) {
    const texts = pairs.map(([, text]) => text);
    setOwn(fields, name, texts.length === 1 ? (texts[0] ?? '') : texts);
  }
  return fields;
}

/** The bytes a form's percent escapes stand for, every other byte as it is. */
function unescapeBytes(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  if (!text.includes('%')) return bytes;
  const plain = text.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, 'latin1');
}
