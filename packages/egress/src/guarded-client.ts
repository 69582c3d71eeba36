import { Readable } from 'node:stream';
import {
  type ClientCertificate,
  type HttpClient,
  HttpClientError,
  type HttpRequest,
  type HttpResponse,
  type ResponseRoom,
  retryAfterMs,
  ServiceError,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import type { Agent, Dispatcher } from 'undici';
import { type AgentOptions, AgentWhenUsed, createAgent } from './agent.ts';
import { toClientError } from './client-errors.ts';
import { startDeadline } from './deadline.ts';
import type { HostPass } from './host-limits.ts';
import { type NarrowRules, narrowPolicy } from './narrowed.ts';
import type { OrganisationTurns } from './organisation-turns.ts';
import { followRedirect, type Hop, redirectLocation } from './redirects.ts';
import { ACCEPT_ENCODING, isDecodable, readBody, streamBody } from './response-body.ts';
import { createTargetPolicy, type TargetPolicy } from './target-policy.ts';

export interface GuardedHttpClientOptions extends AgentOptions {
  /** Entries of MILLRACE_ALLOW_HOSTS: `host`, `host:port`, `*.suffix`, an IP address or a network. */
  readonly allowHosts: readonly string[];
}

export interface GuardedHttpClient extends HttpClient {
  /** The same client for one organisation: with its rules in addition to its own, if it has any, and its turns. */
  ofOrganisation(rules: NarrowRules | null, turns: OrganisationTurns): HttpClient;
  /** Aborts what is in progress and closes all connections. */
  close(): Promise<void>;
}

/** Set by HTTP itself; a node that sets one could smuggle a request or impersonate another host. */
const FRAMING_HEADERS = [
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'keep-alive',
];
const REDIRECT_BODY_BYTES = 64 * 1024;

/**
 * The HTTP client for nodes: refuses private and internal targets, however they are written, resolved or redirected to. Proxies from the
 * environment are ignored: they would connect on their own terms.
 * @throws Error when an entry of `allowHosts` can't be parsed
 */
export function createGuardedHttpClient(options: GuardedHttpClientOptions): GuardedHttpClient {
  const policy = createTargetPolicy(options.allowHosts);
  const shared = new AgentWhenUsed(policy, options);
  const agents: Agents = {
    shared,
    // A connection that has shown a certificate must serve nobody else, so it lasts for one exchange.
    showing: (certificate, origin) => createAgent(policy, options, { certificate, origin }),
  };
  return {
    ...createSender(agents, policy),
    ofOrganisation: (rules, turns) =>
      createSender(agents, rules === null ? policy : narrowPolicy(policy, rules), turns),
    close: () => shared.destroy(),
  };
}

interface Agents {
  readonly shared: AgentWhenUsed;
  /** One whose connections to this origin show a certificate. */
  showing(certificate: ClientCertificate, origin: string): Promise<Agent>;
}

function createSender(agents: Agents, policy: TargetPolicy, turns?: OrganisationTurns): HttpClient {
  return {
    async send(request, signal, room, wait) {
      const hop = firstHop(request, policy);
      // What it waits for its turn isn't the host's fault: the deadline begins afterwards.
      const pass = await turns?.enter(hop, signal, wait);
      const deadline = startDeadline(request.timeoutMs, signal, {
        aborted: message('egress.request_aborted'),
        late: () => message('egress.response_timeout', { host: hostOf(request), ms: request.timeoutMs }),
      });
      const { clientCertificate: certificate } = request;
      let own: Agent | null = null;
      try {
        if (certificate !== undefined) own = await agents.showing(certificate, hop.url.origin);
        return await exchange(
          { agent: own ?? (await agents.shared.get()), policy, room, turns },
          { request, hop, pass },
          deadline.signal,
        );
      } finally {
        deadline.stop();
        pass?.leave();
        await own?.destroy();
      }
    },
  };
}

function hostOf({ url }: HttpRequest): string | Message {
  return URL.parse(url)?.host ?? message('egress.other_side');
}

interface Means {
  readonly agent: Agent;
  readonly policy: TargetPolicy;
  readonly room: ResponseRoom | undefined;
  readonly turns: OrganisationTurns | undefined;
}

/** A request whose turn has come. */
interface Begun {
  readonly request: HttpRequest;
  readonly hop: Hop;
  readonly pass: HostPass | undefined;
}

async function exchange(means: Means, begun: Begun, signal: AbortSignal): Promise<HttpResponse> {
  const { agent, policy, room, turns } = means;
  const { request } = begun;
  let { hop, pass } = begun;
  try {
    for (let followed = 0; ; followed += 1) {
      const answer = await dispatch(agent, hop, signal);
      pass?.responded(answer.statusCode, pauseOf(answer));
      const location = redirectLocation(answer.statusCode, headerText(answer.headers.location));
      if (location === undefined || request.maxRedirects === 0)
        return await readAnswer(answer, hop, { ...request, signal, room });
      await discard(answer, hop, signal);
      if (followed === request.maxRedirects) {
        throw new HttpClientError(
          'too_many_redirects',
          message('egress.too_many_redirects', { host: hop.url.host, count: followed }),
        );
      }
      hop = followRedirect(hop, answer.statusCode, location, policy);
      // Not both at the same time: two calls could wait for each other's hosts.
      pass?.leave();
      pass = await turns?.enter(hop, signal, undefined);
    }
  } finally {
    pass?.leave();
  }
}

/** For how long the host doesn't want to be called. */
export function pauseOf({ headers }: Dispatcher.ResponseData): number | undefined {
  return retryAfterMs(headerText(headers['retry-after']), Date.now());
}

function firstHop({ method, url, headers, body }: HttpRequest, policy: TargetPolicy): Hop {
  const own = Object.entries(headers ?? {}).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    value,
  ]);
  return {
    method: method.toUpperCase(),
    url: policy.checkUrl(url),
    headers: new Map(own.filter(([name]) => !FRAMING_HEADERS.includes(name))),
    body,
  };
}

async function dispatch(agent: Agent, hop: Hop, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const { body } = hop;
  let refusal: ServiceError | null = null;
  async function* noted(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* content;
    } catch (error) {
      if (error instanceof ServiceError) refusal = error;
      throw error;
    }
  }
  const isStreamed = typeof body === 'object' && 'read' in body;
  try {
    signal.throwIfAborted();
    return await agent.request({
      origin: hop.url.origin,
      path: `${hop.url.pathname}${hop.url.search}`,
      method: hop.method,
      headers: {
        'accept-encoding': ACCEPT_ENCODING,
        ...Object.fromEntries(hop.headers),
        ...(isStreamed ? { 'content-length': String(body.size) } : {}),
      },
      body: isStreamed ? Readable.from(noted(body.read()), { objectMode: false }) : (body ?? null),
      signal,
    });
  } catch (error) {
    // What couldn't be read explains more than that it wasn't sent.
    throw refusal ?? toClientError(error, hop.url.host);
  }
}

/** Drains a redirect's short body so that the connection can be reused. */
async function discard(answer: Dispatcher.ResponseData, hop: Hop, signal: AbortSignal): Promise<void> {
  try {
    await answer.body.dump({ limit: REDIRECT_BODY_BYTES, signal });
  } catch (error) {
    throw toClientError(error, hop.url.host);
  }
}

interface ReadLimits extends Pick<HttpRequest, 'maxResponseBytes' | 'save'> {
  readonly signal: AbortSignal;
  readonly room: ResponseRoom | undefined;
}

async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  hop: Hop,
  { maxResponseBytes, signal, room, save }: ReadLimits,
): Promise<HttpResponse> {
  const hasBody = hop.method !== 'HEAD' && statusCode !== 204 && statusCode !== 304;
  const contentEncoding = hasBody ? headerText(headers['content-encoding']) : undefined;
  try {
    const shownHeaders = answerHeaders(headers, isDecodable(contentEncoding));
    const sink = save?.({ status: statusCode, headers: shownHeaders }) ?? null;
    if (sink !== null) {
      const saved = await sink(streamBody(body, contentEncoding));
      return { status: statusCode, headers: shownHeaders, body: new Uint8Array(), saved };
    }
    const contentLength = hasBody ? headerText(headers['content-length']) : undefined;
    const limits = { maxBytes: maxResponseBytes, host: hop.url.host, signal, room };
    const bytes = await readBody(body, { contentEncoding, contentLength, ...limits });
    const setCookies = headers['set-cookie'];
    return {
      status: statusCode,
      headers: shownHeaders,
      ...(Array.isArray(setCookies) && setCookies.length > 1 ? { setCookies } : {}),
      body: bytes,
    };
  } catch (error) {
    // Of the file that the body was to become.
    if (error instanceof ServiceError) throw error;
    // A destroyed pipe reports its own error; the reason it was destroyed is more specific.
    const isExplained = error instanceof HttpClientError;
    throw toClientError(signal.aborted && !isExplained ? signal.reason : error, hop.url.host);
  }
}

/** Once a body is decompressed, the headers that describe its compressed form would be wrong. */
function answerHeaders(
  headers: Dispatcher.ResponseData['headers'],
  isDecoded: boolean,
): HttpResponse['headers'] {
  const entries = Object.entries(headers)
    .filter(([name]) => !isDecoded || (name !== 'content-encoding' && name !== 'content-length'))
    .filter(([name, value]) => name !== 'set-cookie' || !Array.isArray(value) || value.length === 1)
    .map(([name, value]) => [name.toLowerCase(), headerText(value) ?? '']);
  return Object.fromEntries(entries);
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}
