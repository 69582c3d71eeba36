import {
  type AiRequest,
  type AiUsage,
  type CredentialOf,
  HttpClientError,
  type JsonObject,
  ServiceError,
} from '@millrace/engine';
import { type Message, mapTexts, message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';
import { type ProviderRefusal, refusalIn, retryAfterMs } from './provider-error.ts';

/** The state of a call when it failed. */
export interface FailedCall {
  readonly credential: CredentialOf<'ai'>;
  readonly request: Pick<AiRequest, 'model'>;
  /** Token counts that the provider reported before it failed. */
  readonly usage: AiUsage;
  /** Whether the response had started. */
  readonly isAnswering: boolean;
  /** Why it was aborted, if it was. */
  readonly abortReason: unknown;
  readonly nowMs: number;
}

/** Something wrong with a response that arrived complete; thrown by its readers. */
export class AnswerProblem extends ExplainedError {
  readonly code:
    | 'ai_invalid_output'
    | 'ai_invalid_response'
    | 'ai_refused'
    | 'ai_stream_cut'
    | 'ai_unsupported';
  readonly isRetryable: boolean;
  readonly details: JsonObject | undefined;
  constructor(code: AnswerProblem['code'], explanation: Message, isRetryable: boolean, details?: JsonObject) {
    super(explanation);
    this.code = code;
    this.isRetryable = isRetryable;
    this.details = details;
  }
}

interface Diagnosis {
  readonly code: string;
  readonly message: Message;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly details?: JsonObject | undefined;
}

/** Converts any error of a call to one that a workflow's author can read and the node can act on; it never contains the key. */
export function toServiceError(error: unknown, call: FailedCall): ServiceError {
  const { code, message: explanation, retryable, retryAfterMs: delayMs, details } = diagnose(error, call);
  return new ServiceError(code, withoutKey(explanation, call.credential.api_key), {
    retryable,
    consumedAiTokens: call.usage.totalTokens,
    // The cause is omitted: the client library's errors contain the whole request.
    ...(delayMs === undefined ? {} : { retryAfterMs: delayMs }),
    ...(details === undefined ? {} : { details }),
  });
}

function diagnose(error: unknown, call: FailedCall): Diagnosis {
  const problem = causeOf(error, AnswerProblem);
  if (problem !== undefined) {
    const { code, explanation, isRetryable: retryable, details } = problem;
    return { code, message: explanation, retryable, details };
  }
  if (call.abortReason instanceof HttpClientError) return ofTransport(call.abortReason, call);
  const transport = causeOf(error, HttpClientError);
  if (transport !== undefined) return ofTransport(transport, call);
  const refusal = refusalIn(error);
  if (refusal !== undefined) return ofRefusal(refusal, call);
  if (isMissingEnd(error)) {
    return {
      code: 'ai_stream_cut',
      message: message('ports.answer_cut'),
      retryable: true,
    };
  }
  return {
    code: 'ai_invalid_response',
    message: message('ports.wrong_format', { host: hostOf(call), provider: call.credential.provider }),
    retryable: true,
  };
}

/** The client library for OpenAI's format reports a response without its end as missing data. */
function isMissingEnd(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name === 'AI_InvalidResponseDataError' &&
    (error as { data?: unknown }).data === undefined
  );
}

/** Finds one of our own errors, however deeply the client library wrapped it. */
function causeOf<Kind extends Error>(error: unknown, kind: new (...args: never[]) => Kind): Kind | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < 10; each = each.cause, depth += 1) {
    if (each instanceof kind) return each;
  }
  return undefined;
}

function ofTransport({ code, explanation }: HttpClientError, call: FailedCall): Diagnosis {
  switch (code) {
    case 'target_not_allowed':
    case 'invalid_url':
      return { code, message: explanation, retryable: false };
    case 'too_many_redirects':
      return { code: 'ai_unreachable', message: explanation, retryable: false };
    case 'response_too_large':
      return { code: 'ai_answer_too_large', message: explanation, retryable: false };
    case 'aborted':
      return { code: 'ai_aborted', message: explanation, retryable: true };
    case 'timeout':
      return call.abortReason === undefined
        ? { code: 'ai_unreachable', message: explanation, retryable: true }
        : { code: 'ai_timeout', message: explanation, retryable: true };
    case 'connection_failed':
      return call.isAnswering
        ? {
            code: 'ai_stream_cut',
            message: message('ports.answer_cut_by', { reason: explanation }),
            retryable: true,
          }
        : { code: 'ai_unreachable', message: explanation, retryable: true };
  }
}

type Kind =
  | 'unauthorized'
  | 'quota'
  | 'rate_limited'
  | 'overloaded'
  | 'context'
  | 'refused'
  | 'model'
  | 'bad_request';

const CODES: Record<Kind, { readonly code: string; readonly retryable: boolean }> = {
  unauthorized: { code: 'ai_unauthorized', retryable: false },
  quota: { code: 'ai_quota_exceeded', retryable: false },
  rate_limited: { code: 'ai_rate_limited', retryable: true },
  overloaded: { code: 'ai_overloaded', retryable: true },
  context: { code: 'ai_context_too_long', retryable: false },
  refused: { code: 'ai_refused', retryable: false },
  model: { code: 'ai_model_not_found', retryable: false },
  bad_request: { code: 'ai_bad_request', retryable: false },
};

function ofRefusal(refusal: ProviderRefusal, call: FailedCall): Diagnosis {
  const kind = kindOf(refusal);
  const { code, retryable } = CODES[kind];
  return {
    code,
    message: explain(kind, refusal, call),
    retryable,
    retryAfterMs: retryable ? retryAfterMs(refusal, call.nowMs) : undefined,
  };
}

/** Checks the provider's own error names first, which are more specific than the status; words in the message are the last resort. */
function kindOf({ status, names, text }: ProviderRefusal): Kind {
  const named = names.map((name) => KINDS_BY_NAME.get(name.toLowerCase())).find((kind) => kind !== undefined);
  if (named !== undefined) return named;
  const isClientError = status !== undefined && status >= 400 && status < 500;
  if (isClientError && status !== 401 && status !== 403 && status !== 429) {
    const worded = KINDS_BY_WORDS.find(([words]) => words.test(text))?.[1];
    if (worded !== undefined) return worded;
  }
  switch (status) {
    case 401:
    case 403:
      return 'unauthorized';
    case 402:
      return 'quota';
    case 404:
      return 'model';
    case 413:
      return 'context';
    case 429:
      return 'rate_limited';
    case 408:
    case 409:
    case 425:
      return 'overloaded';
    default:
      return isClientError ? 'bad_request' : 'overloaded';
  }
}

/** Names with one meaning whatever the status. `invalid_request_error` and the like have too many. */
const KINDS_BY_NAME: ReadonlyMap<string, Kind> = new Map([
  ['invalid_api_key', 'unauthorized'],
  ['authentication_error', 'unauthorized'],
  ['permission_error', 'unauthorized'],
  ['api_key_invalid', 'unauthorized'],
  ['unauthenticated', 'unauthorized'],
  ['permission_denied', 'unauthorized'],
  ['insufficient_quota', 'quota'],
  ['billing_hard_limit_reached', 'quota'],
  ['billing_error', 'quota'],
  ['rate_limit_exceeded', 'rate_limited'],
  ['rate_limit_error', 'rate_limited'],
  ['resource_exhausted', 'rate_limited'],
  ['overloaded_error', 'overloaded'],
  ['api_error', 'overloaded'],
  ['server_error', 'overloaded'],
  ['unavailable', 'overloaded'],
  ['internal', 'overloaded'],
  ['context_length_exceeded', 'context'],
  ['request_too_large', 'context'],
  ['string_above_max_length', 'context'],
  ['content_filter', 'refused'],
  ['content_policy_violation', 'refused'],
  ['responsibleaipolicyviolation', 'refused'],
  ['model_not_found', 'model'],
  ['not_found_error', 'model'],
]);

const KINDS_BY_WORDS: readonly (readonly [RegExp, Kind])[] = [
  [
    /context (length|window)|maximum context|prompt is too long|too many tokens|exceeds the maximum number of tokens|input token count|exceeds? .{0,40}context/i,
    'context',
  ],
  [/credit balance|billing|insufficient (balance|credit|funds)/i, 'quota'],
  [/api[ _-]?key (is )?(not valid|invalid)|invalid api[ _-]?key/i, 'unauthorized'],
  [/content (management )?policy|content filter|safety system/i, 'refused'],
  [
    /model\b.{0,120}\b(not found|does not exist|not exist|is not supported for)|unknown model|no such model/i,
    'model',
  ],
];

function explain(kind: Kind, refusal: ProviderRefusal, call: FailedCall): Message {
  const { status } = refusal;
  const reason = describeKind(kind, refusal, call);
  const explanation = status === undefined ? reason : message('ports.with_status', { reason, status });
  // A provider that echoes the key it was sent must not get any part of it in here.
  return kind === 'unauthorized' && status !== 403 ? explanation : withWords(explanation, refusal.message);
}

function describeKind(kind: Kind, { status }: ProviderRefusal, call: FailedCall): Message {
  const host = hostOf(call);
  const { model } = call.request;
  switch (kind) {
    case 'unauthorized':
      return status === 403
        ? message('ports.key_without_right', { host })
        : message('ports.key_refused', { host });
    case 'quota':
      return message('ports.quota_exceeded', { host });
    case 'rate_limited':
      return message('ports.rate_limited', { host });
    case 'overloaded':
      return message('ports.overloaded', { host });
    case 'context':
      return message('ports.context_too_long', { model });
    case 'refused':
      return message('ports.content_refused', { host });
    case 'model':
      return message('ports.model_not_found', { host, model });
    case 'bad_request':
      return message('ports.request_refused', { host });
  }
}

const MAX_WORDS = 500;

/** A message followed by the other side's own words. */
export function withWords(explanation: Message, words: string): Message {
  const text = words.replaceAll(/\s+/g, ' ').trim();
  if (text === '') return explanation;
  const cut = text.length > MAX_WORDS ? `${text.slice(0, MAX_WORDS)}…` : text;
  return message('ports.with_words', { said: explanation, words: cut });
}

function hostOf({ credential }: FailedCall): string | Message {
  const host = credential.base_url === null ? undefined : URL.parse(credential.base_url)?.host;
  return host ?? message('ports.the_provider');
}

function withoutKey(explanation: Message, key: string | null): Message {
  return key === null || key === ''
    ? explanation
    : mapTexts(explanation, (text) => text.replaceAll(key, '[hidden]'));
}
