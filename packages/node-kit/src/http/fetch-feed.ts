import {
  type Failure,
  failure,
  type HttpRequest,
  type HttpResponse,
  type NodeContext,
  retryAfterMs,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import manifest from '../../package.json' with { type: 'json' };
import { isRetryable } from './answer.ts';
import { MAX_REDIRECTS } from './config.ts';

/** A conversion of what was fetched never takes nearly as long. */
export const MAX_CONVERSION_MS = 60_000;

/** An entry of a feed, as it is read, for the examples of nodes. */
export const EXAMPLE_ENTRY = {
  id: 'n2',
  title: 'Sencha & more',
  url: 'https://tea.example.com/n2',
  summary: 'New harvest',
  content_html: '<p>New <b>harvest</b></p>',
  author: null,
  published_at: '2026-01-01T09:00:00.000Z',
  updated_at: null,
  categories: ['tea'],
  attachments: [],
  image: null,
};

/** Where a feed is, and the limits for fetching it. */
interface FeedSource {
  readonly url: string;
  readonly credential_id: number;
  readonly timeout_ms: number;
  readonly max_response_bytes: number;
}

/**
 * The text of the feed at a URL.
 * @returns a failure for a response whose status isn't a success
 */
export async function fetchFeed(
  config: FeedSource,
  context: Pick<NodeContext, 'http' | 'credentials' | 'signal' | 'now'>,
): Promise<Failure | { readonly kind: 'feed'; readonly text: string }> {
  const response = await request(config, context);
  if (response.status >= 200 && response.status <= 299) return { kind: 'feed', text: decode(response) };
  return refusal(response, config.url, context.now());
}

async function request(
  config: FeedSource,
  { http, credentials, signal }: Pick<NodeContext, 'http' | 'credentials' | 'signal'>,
): Promise<HttpResponse> {
  const wanted: HttpRequest = {
    method: 'GET',
    url: config.url.trim(),
    headers: {
      'user-agent': `Millrace/${manifest.version}`,
      accept:
        'application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, */*;q=0.8',
    },
    timeoutMs: config.timeout_ms,
    maxResponseBytes: config.max_response_bytes,
    maxRedirects: MAX_REDIRECTS,
  };
  if (config.credential_id === 0) return http.send(wanted, signal);
  return (await credentials.authenticate(config.credential_id, wanted)).send(signal);
}

function refusal({ status, headers }: HttpResponse, url: string, nowMs: number): Failure {
  const delayMs = retryAfterMs(headers['retry-after'], nowMs);
  const request = `GET ${url.split('?', 1)[0] ?? ''}`;
  return failure('http_status', message('nodes.http_status', { request, status }), {
    retryable: isRetryable(status),
    ...(delayMs === undefined ? {} : { retryAfterMs: delayMs }),
    output: { status },
  });
}

/** The encoding that the response names, or else the document itself. */
function decode({ headers, body }: HttpResponse): string {
  const start = new TextDecoder('latin1').decode(body.subarray(0, 200));
  const charset =
    /charset\s*=\s*"?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1] ??
    /^[^<]*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)["']/i.exec(start)?.[1];
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(body);
  } catch {
    // An unknown encoding.
    return new TextDecoder().decode(body);
  }
}
