import type { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { type HostWait, HttpClientError } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Dispatcher } from 'undici';
import { AgentWhenUsed } from './agent.ts';
import { toClientError } from './client-errors.ts';
import { type GuardedHttpClientOptions, pauseOf } from './guarded-client.ts';
import type { OrganisationTurns } from './organisation-turns.ts';
import { createTargetPolicy } from './target-policy.ts';

/** Options of a guarded fetch; the part of the Fetch standard that client libraries use to post JSON. */
interface GuardedFetchInit {
  readonly method?: string;
  readonly headers?: Headers | { readonly [name: string]: string };
  readonly body?: string;
  readonly signal?: AbortSignal | null;
  /** While too many calls to the host are under way; absent: it waits for its turn for as long as it takes. */
  readonly wait?: HostWait | undefined;
}

const NO_BODY_STATUSES = [204, 205, 304];
const NEVER = new AbortController().signal;

export type GuardedFetch = ReturnType<typeof createGuardedFetch>;

/**
 * The guarded client for streamed responses, such as server-sent events.
 * @throws Error when an entry of `allowHosts` can't be parsed
 */
export function createGuardedFetch(options: GuardedHttpClientOptions) {
  const policy = createTargetPolicy(options.allowHosts);
  const agents = new AgentWhenUsed(policy, options);
  return {
    /**
     * Sends a request under the rules of the guarded client and resolves as soon as the headers have arrived; the body is streamed. The only
     * timeout is the caller's `signal`. Redirects are refused: these requests carry a key.
     * @param maxBytes limit of the body in bytes; beyond it, reading fails with `response_too_large`
     * @param turns of the organisation that calls; absent: it is always its turn
     * @throws HttpClientError also from the body's stream
     */
    async fetch(
      text: string,
      { method = 'GET', headers: given, body, signal = null, wait }: GuardedFetchInit,
      maxBytes: number,
      turns?: OrganisationTurns,
    ): Promise<Response> {
      const url = policy.checkUrl(text);
      const headers = new Map(new Headers(given as Headers | undefined));
      const pass = await turns?.enter({ url, headers }, signal ?? NEVER, wait);
      try {
        signal?.throwIfAborted();
        const agent = await agents.get();
        const answer = await agent.request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: method as Dispatcher.HttpMethod,
          // A compressed stream would be held back until a block is full.
          headers: { ...Object.fromEntries(headers), 'accept-encoding': 'identity' },
          body: body ?? null,
          signal,
        });
        pass?.responded(answer.statusCode, pauseOf(answer));
        // The call is over when nobody reads its body any more.
        answer.body.once('close', () => pass?.leave());
        return await toResponse(answer, url.host, signal, maxBytes);
      } catch (error) {
        pass?.leave();
        throw failureOf(error, url.host, signal);
      }
    },
    close: () => agents.destroy(),
  };
}

async function toResponse(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  host: string,
  signal: AbortSignal | null,
  maxBytes: number,
): Promise<Response> {
  // A body may fail before anyone reads it; without a listener that would end the process. Its reader gets the error.
  body.on('error', () => undefined);
  const refused = refusalOf(statusCode, headers, host);
  if (refused !== undefined) {
    body.destroy();
    throw refused;
  }
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  );
  if (NO_BODY_STATUSES.includes(statusCode)) {
    await body.dump();
    return new Response(null, { status: statusCode, headers: entries });
  }
  const chunks = guardBody(body, host, signal, maxBytes);
  const stream = ReadableStream.from<Uint8Array>({
    [Symbol.asyncIterator]: () => ({
      next: () => chunks.next(),
      // A generator that was never begun wouldn't notice, and the connection would stay open.
      return: () => {
        body.destroy();
        return chunks.return(undefined);
      },
    }),
  });
  return new Response(stream as ConstructorParameters<typeof Response>[0], {
    status: statusCode,
    headers: entries,
  });
}

function refusalOf(
  status: number,
  headers: Dispatcher.ResponseData['headers'],
  host: string,
): HttpClientError | undefined {
  if (status >= 300 && status < 400 && status !== 304) {
    return new HttpClientError('too_many_redirects', message('egress.redirect_refused', { host, status }));
  }
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return undefined;
  return new HttpClientError(
    'connection_failed',
    message('egress.compressed', { host, encoding: String(encoding) }),
  );
}

/** Forwards the body's bytes, counts them, and converts errors into descriptive ones. */
async function* guardBody(
  body: Readable,
  host: string,
  signal: AbortSignal | null,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      length += chunk.byteLength;
      if (length > maxBytes) {
        throw new HttpClientError(
          'response_too_large',
          message('egress.response_too_large', { host, max: maxBytes }),
        );
      }
      yield chunk;
    }
  } catch (error) {
    throw failureOf(error, host, signal);
  }
}

/** A destroyed connection reports its own error; the reason it was destroyed is more specific. */
function failureOf(error: unknown, host: string, signal: AbortSignal | null): HttpClientError {
  if (signal?.aborted !== true) return toClientError(error, host);
  const { reason } = signal as { reason: unknown };
  return reason instanceof HttpClientError
    ? reason
    : new HttpClientError('aborted', message('egress.request_aborted'), { cause: reason });
}
