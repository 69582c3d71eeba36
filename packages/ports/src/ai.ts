import { startDeadline } from '@millrace/egress/deadline';
import type { GuardedFetch } from '@millrace/egress/guarded-fetch';
import type { AiAnswer, AiRequest, AiService, CredentialOf } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Caller } from '@millrace/runtime/node-services';
import { withTraceparent } from '@millrace/runtime/tracing/outgoing';
import { askModel } from './ai/ask.ts';
import { createDialects, type Dialects, otherDialect } from './ai/dialects.ts';
import { askForVectors } from './ai/embed.ts';
import { toServiceError } from './ai/errors.ts';
import { readOutput } from './ai/output.ts';
import { createUsageMeter, toUsage, type UsageMeter } from './ai/usage.ts';

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
        const meter = createUsageMeter(credential.provider);
        // JSON is for programs.
        const live =
          request.outputSchema === null && request.isInternal !== true
            ? (options.live?.(caller, credential.api_key) ?? null)
            : null;
        try {
          return await withinTime({ credential, request, meter }, signal, options, (limited) =>
            askInDialect(credential, request, limited, meter, dialects, { ...options, outbound, live }),
          );
        } finally {
          live?.close();
        }
      },
      embed: (credential, request, signal) =>
        withinTime({ credential, request, meter: null }, signal, options, (limited) =>
          askForVectors(credential, request, outbound, limited),
        ),
    };
  };
}

/** Makes a call that ends with its time limit, and explains what goes wrong. */
async function withinTime<Result>(
  call: {
    readonly credential: CredentialOf<'ai'>;
    readonly request: { readonly model: string; readonly timeoutMs: number };
    /** Null: nothing is known of the tokens of a call that fails. */
    readonly meter: UsageMeter | null;
  },
  signal: AbortSignal,
  { now = Date.now }: Pick<AiServiceOptions, 'now'>,
  make: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { credential, request, meter } = call;
  const deadline = startDeadline(request.timeoutMs, signal, {
    aborted: message('ports.call_aborted'),
    late: () => message('ports.model_timeout', { ms: request.timeoutMs }),
  });
  try {
    return await make(deadline.signal);
  } catch (error) {
    throw toServiceError(error, {
      credential,
      request,
      usage: meter?.total() ?? toUsage(0, 0),
      isAnswering: meter?.hasStarted() ?? false,
      abortReason: deadline.signal.aborted ? deadline.signal.reason : undefined,
      nowMs: now(),
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
