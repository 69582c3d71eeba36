import {
  type Failure,
  failure,
  type HttpResponse,
  type JsonObject,
  type JsonValue,
  type NodeContext,
  retryAfterMs,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { readBody } from '@millrace/node-kit/http/answer';
import type { Asked, ErrorRule, Refusal } from './format.ts';
import type { Call } from './request.ts';
import { fillIn, fillInText, type TemplateBudget } from './templates.ts';

/** An answer that isn't a refusal. */
export interface Accepted {
  readonly kind: 'accepted';
  /** What templates read as `args.response`. */
  readonly response: JsonObject;
  readonly bytes: number;
}

/** The longest part of a service's own words in a message. */
const MAX_REASON = 500;
const MAX_OWN_DELAY_MS = 86_400_000;

/** Reads a service's answer. @throws RenderLimitError */
export async function readAnswer(
  response: HttpResponse,
  call: Call,
  context: Pick<NodeContext, 'documents' | 'inTurns' | 'now' | 'signal'>,
): Promise<Accepted | Failure> {
  const { status, headers } = response;
  const isFile = response.saved !== undefined;
  const read = (await readBody(response, isFile ? 'file' : 'auto', context)) ?? {
    body: null,
    body_type: 'empty' as const,
  };
  const shown: JsonObject = { status, headers, body: read.body };
  const args: JsonObject = { ...call.args, response: shown };
  const rules = [...(call.operation.errors ?? []), ...(call.connector.errors ?? [])];
  const rule = rules.find(({ when }) => fillIn(when, args, call.budget) === true);
  const as = rule?.as ?? refusalOf(status);
  if (as !== null) return refusalFailure(as, rule, call, args, context.now());
  if (call.operation.response === 'xml' && read.body_type === 'text') {
    const body = await readXml(read.body, call, context);
    return { kind: 'accepted', response: { ...shown, body }, bytes: response.body.byteLength };
  }
  if (!isFile && read.body_type !== 'json' && read.body_type !== 'empty') {
    const { title: service } = call.connector;
    return failure('invalid_response', message('nodes.connector_not_json', { service, status }), {
      output: { status, body: read.body },
    });
  }
  return { kind: 'accepted', response: shown, bytes: response.body.byteLength };
}

/** Outside the main thread, with the bounds of `data.xml`. @throws ServiceError */
async function readXml(
  body: JsonValue,
  { operation: { xml_lists: lists = [] }, limits }: Call,
  { documents, signal }: Pick<NodeContext, 'documents' | 'signal'>,
): Promise<JsonValue> {
  const names = { attributePrefix: '@', textName: '#text' };
  const conversion = { kind: 'xml_to_value', names, keepAttributes: false, localNames: true, lists } as const;
  const text = typeof body === 'string' ? body : '';
  return documents.convert({ text, conversion, timeoutMs: limits.timeout_ms }, signal);
}

/** What a status says by itself; null: that it worked. */
function refusalOf(status: number): Refusal | null {
  if (status < 300) return null;
  if (status === 401 || status === 403) return 'auth_failed';
  if (status === 404 || status === 410) return 'not_found';
  if (status === 429) return 'rate_limited';
  return status === 408 || status === 425 || status >= 500 ? 'unavailable' : 'refused';
}

function refusalFailure(
  as: Refusal,
  rule: ErrorRule | undefined,
  call: Call,
  args: JsonObject,
  nowMs: number,
): Failure {
  const { status, headers, body } = args.response as { status: number; headers: JsonObject; body: JsonValue };
  const said = fillInText(call.connector.reason, args, call.budget).trim().slice(0, MAX_REASON);
  const reason = said === '' ? `status ${status}` : said;
  const header = headers['retry-after'];
  const asked = typeof header === 'string' ? retryAfterMs(header, nowMs) : undefined;
  const delayMs = asked ?? (rule === undefined ? undefined : ownDelayMs(rule, args, call.budget, nowMs));
  const { code, said: explanation } = explain(as, call.connector.title, reason);
  return failure(code, explanation, {
    retryable: as === 'rate_limited' || (as === 'unavailable' && mayRepeat(call.operation)),
    ...(delayMs === undefined ? {} : { retryAfterMs: delayMs }),
    output: { status, body },
  });
}

/** The pause that a service asks for in its own way. */
function ownDelayMs(
  rule: ErrorRule,
  args: JsonObject,
  budget: TemplateBudget,
  nowMs: number,
): number | undefined {
  const read = (template: string | undefined): number =>
    template === undefined ? Number.NaN : Number.parseFloat(fillInText(template, args, budget));
  const afterMs = read(rule.retry_after_s) * 1000;
  const delayMs = Number.isNaN(afterMs) ? read(rule.retry_at_s) * 1000 - nowMs : afterMs;
  return delayMs > 0 ? Math.min(Math.ceil(delayMs), MAX_OWN_DELAY_MS) : undefined;
}

/** Whether the request may be sent again although the service may have acted on it. */
export function mayRepeat({ effect, repetition }: Asked): boolean {
  return !effect || repetition !== 'unknown';
}

function explain(
  as: Refusal,
  service: string,
  reason: string,
): { readonly code: string; readonly said: Message } {
  switch (as) {
    case 'rate_limited':
      return {
        code: 'connector_rate_limited',
        said: message('nodes.connector_rate_limited', { service, reason }),
      };
    case 'auth_failed':
      return {
        code: 'connector_auth_failed',
        said: message('nodes.connector_auth_failed', { service, reason }),
      };
    case 'not_found':
      return { code: 'connector_not_found', said: message('nodes.connector_not_found', { service, reason }) };
    case 'refused':
      return { code: 'connector_refused', said: message('nodes.connector_refused', { service, reason }) };
    case 'unavailable':
      return {
        code: 'connector_unavailable',
        said: message('nodes.connector_unavailable', { service, reason }),
      };
  }
}
