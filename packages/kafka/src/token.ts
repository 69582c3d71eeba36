import { request as httpRequest, type IncomingMessage } from 'node:http';
import { type CredentialOf, isJsonObject, ServiceError, tryParseJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { BrokerOptions, Tokens } from './broker.ts';
import { connectionFailed } from './errors.ts';

/** Of an answer with a token. */
const MAX_ANSWER_BYTES = 64 * 1024;
const TIMEOUT_MS = 15_000;
/** A token is no longer used so long before its end. */
const EARLY_MS = 30_000;

interface Token {
  readonly text: string;
  readonly untilMs: number;
}

/** Tokens for signing in at the brokers of one cluster, fetched by client credentials (RFC 6749). Kept in memory only. */
export class TokenSource implements Tokens {
  readonly #options: BrokerOptions;
  #token: Promise<Token> | null = null;

  constructor(options: BrokerOptions) {
    this.#options = options;
  }

  /**
   * The token that is valid now.
   * @throws ServiceError kafka_auth_failed, kafka_connection_failed, HttpClientError
   */
  async get(): Promise<string> {
    const known = this.#token === null ? null : await this.#token.catch(() => null);
    if (known !== null && known.untilMs > Date.now()) return known.text;
    const fetching = fetchToken(this.#options);
    this.#token = fetching;
    const { text } = await fetching;
    return text;
  }
}

async function fetchToken({ sockets, credential, signal }: BrokerOptions): Promise<Token> {
  const url = new URL(credential.token_url ?? '');
  const until = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const isSecure = url.protocol === 'https:';
  const port = Number(url.port === '' ? (isSecure ? 443 : 80) : url.port);
  const tls = isSecure ? { tls: { isVerified: true } } : {};
  // By a guarded socket: no redirect is followed, and the secret goes nowhere else.
  const socket = await sockets.connect({ host: url.hostname, port, ...tls }, until);
  try {
    const { status, body } = await new Promise<Answer>((resolve, reject) => {
      const sent = httpRequest({
        ...{ createConnection: () => socket, agent: false, signal: until },
        ...{ method: 'POST', host: url.hostname, port, path: `${url.pathname}${url.search}` },
        headers: {
          accept: 'application/json',
          'content-type': 'application/x-www-form-urlencoded',
          authorization: `Basic ${Buffer.from(clientOf(credential)).toString('base64')}`,
        },
      });
      sent.once('error', reject);
      sent.once('response', (response) => void readAll(response).then(resolve, reject));
      const { scope } = credential;
      const asked = { grant_type: 'client_credentials', ...(scope == null || scope === '' ? {} : { scope }) };
      sent.end(new URLSearchParams(asked).toString());
    });
    return tokenIn(status, body, url.host);
  } catch (error) {
    throw error instanceof ServiceError ? error : connectionFailed(url.host, error);
  } finally {
    socket.destroy();
  }
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

async function readAll(response: IncomingMessage): Promise<Answer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.byteLength;
    if (length > MAX_ANSWER_BYTES) throw new Error(`it answers with more than ${MAX_ANSWER_BYTES} bytes`);
    pieces.push(piece);
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(pieces).toString('utf8') };
}

/** As a form would write them (RFC 6749, 2.3.1). */
function clientOf({ username, password }: CredentialOf<'kafka'>): string {
  return [username ?? '', password ?? ''].map(encodeURIComponent).join(':');
}

function tokenIn(status: number, body: string, host: string): Token {
  const said = tryParseJson(body);
  const answer = isJsonObject(said) ? said : {};
  const { access_token: text, expires_in: seconds, error } = answer;
  // What it may consist of (RFC 6750): anything else would say more to the broker than a token.
  if (status === 200 && typeof text === 'string' && /^[\w.~+/=-]+$/.test(text)) {
    const lifetimeMs = (Number(seconds) || 60) * 1_000;
    return { text, untilMs: Date.now() + Math.max(0, lifetimeMs - EARLY_MS) };
  }
  const code = typeof error === 'string' && /^[\w.-]{1,100}$/.test(error) ? `, ${error}` : '';
  throw new ServiceError(
    'kafka_auth_failed',
    message('ports.kafka_token', { host, reason: `status ${status}${code}` }),
  );
}
