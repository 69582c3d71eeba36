import { startDeadline } from '@millrace/egress/deadline';
import type { GuardedFetch } from '@millrace/egress/guarded-fetch';
import type { AiAnswer, AiRequest, AiService, CredentialOf } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Caller } from '@millrace/runtime/node-services';
import { withTraceparent } from '@millrace/runtime/tracing/outgoing';
import { askModel } from './ai/ask.ts';
import { createDialects, type Dialects, otherDialect } from './ai/dialects.ts';
import { toServiceError } from './ai/errors.ts';
import { readOutput } from './ai/output.ts';
import { createUsageMeter, type UsageMeter } from './ai/usage.ts';

export interface AiServiceOptions {
  /** Egress of an organisation; each call to a provider goes through it. */
  readonly outbound: (organisationId: number) => Pick<GuardedFetch, 'fetch'>;
  /** Maximum bytes of one streamed response. Default 64 MiB: each token takes a few hundred bytes on the wire. */
  readonly maxAnswerBytes?: number;
  /** Epoch milliseconds; only for Retry-After with a date. */
  readonly now?: () => number;
  /** For texts that somebody may follow while they are written; null for those that nobody may. */
  readonly live?: (caller: Caller, secret: string | null) => LiveText | null;
}

/** Takes what a model writes. */
export interface LiveText {
  add(text: string): void;
  close(): void;
}

/** The options for one organisation. */
type Way = Omit<AiServiceOptions, 'outbound' | 'live'> & {
  readonly outbound: Pick<GuardedFetch, 'fetch'>;
  readonly live: LiveText | null;
};

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * One interface to models of any of the three wire formats. The client libraries are loaded on the first call: they take
 * tens of megabytes, and most processes never call a model.
 */
export function createAiService(options: AiServiceOptions): (caller: Caller) => AiService {
  const dialects = createDialects();
  return (caller) => {
    const { organisationId, waitForHost, trace } = caller;
    const guarded = options.outbound(organisationId);
    const outbound: Way['outbound'] = {
      fetch: (url, init, maxBytes) =>
        guarded.fetch(url, { ...withTraceparent(init, trace), wait: waitForHost?.() }, maxBytes),
    };
    return {
      async generate(credential, request, signal) {
        // JSON is for programs.
        const live =
          request.outputSchema === null && request.isInternal !== true
            ? (options.live?.(caller, credential.api_key) ?? null)
            : null;
        try {
          return await generate(credential, request, signal, dialects, { ...options, outbound, live });
        } finally {
          live?.close();
        }
      },
    };
  };
}

async function generate(
  credential: CredentialOf<'ai'>,
  request: AiRequest,
  signal: AbortSignal,
  dialects: Dialects,
  options: Way,
): Promise<AiAnswer> {
  const deadline = startDeadline(request.timeoutMs, signal, {
    aborted: message('ports.call_aborted'),
    late: () => message('ports.model_timeout', { ms: request.timeoutMs }),
  });
  const meter = createUsageMeter(credential.provider);
  try {
    return await askInDialect(credential, request, deadline.signal, meter, dialects, options);
  } catch (error) {
    throw toServiceError(error, {
      credential,
      request,
      usage: meter.total(),
      isAnswering: meter.hasStarted(),
      abortReason: deadline.signal.aborted ? deadline.signal.reason : undefined,
      nowMs: (options.now ?? Date.now)(),
    });
  } finally {
    deadline.close();
  }
}

/** Uses the dialect this model is known to understand; if it is rejected, tries the next one and remembers it. */
async function askInDialect(
  credential: CredentialOf<'ai'>,
  request: AiRequest,
  signal: AbortSignal,
  meter: UsageMeter,
  dialects: Dialects,
  { outbound, maxAnswerBytes = MAX_ANSWER_BYTES, live }: Way,
): Promise<AiAnswer> {
  let dialect = dialects.of(credential, request.model);
  for (;;) {
    try {
      const answer = await askModel({
        credential,
        request,
        dialect,
        outbound,
        maxAnswerBytes,
        meter,
        signal,
        live,
      });
      return readOutput(answer, request);
    } catch (error) {
      const other = meter.hasStarted() ? undefined : otherDialect(dialect, credential.provider, error);
      if (other === undefined) throw error;
      dialects.remember(credential, request.model, other);
      dialect = other;
    }
  }
}
