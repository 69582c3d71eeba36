import {
  basicAuthentication,
  clientCredentials,
  TokenError,
  type Tokens as TokensGiven,
} from '@millrace/egress/token-endpoint';
import { ServiceError } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';
import type { BrokerOptions, Tokens } from './broker.ts';
import { connectionFailed } from './errors.ts';

/** A token is no longer used so long before its end. */
const EARLY_MS = 30_000;
/** Of a token whose provider doesn't say how long it is valid. */
const LIFETIME_S = 60;

interface Token {
  readonly text: string;
  readonly untilMs: number;
}

/** Tokens for signing in at the brokers of one cluster, fetched by client credentials. Kept in memory only. */
export class TokenSource implements Tokens {
  readonly #options: BrokerOptions;
  #token: Promise<Token> | null = null;

  constructor(options: BrokerOptions) {
    this.#options = options;
  }

  /**
   * The token that is valid now.
   * @throws ServiceError kafka_auth_failed, kafka_connection_failed
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

async function fetchToken({ fetch, credential, signal }: BrokerOptions): Promise<Token> {
  const { token_url: url, username, password, scope } = credential;
  const tokenUrl = url ?? '';
  const host = URL.parse(tokenUrl)?.host ?? tokenUrl;
  const asked = { fetch, tokenUrl, clientId: username ?? '', auth: basicAuthentication(password ?? '') };
  const parameters = new URLSearchParams(scope == null || scope === '' ? {} : { scope });
  const given = await clientCredentials(asked, parameters, signal).catch((error: unknown) => {
    throw error instanceof TokenError ? failureOf(error, host) : error;
  });
  return tokenIn(given, host);
}

function failureOf({ kind, reason, cause }: TokenError, host: string): ServiceError {
  return kind === 'unavailable'
    ? connectionFailed(host, new ExplainedError(reason, { cause }))
    : refused(host, reason);
}

function tokenIn({ accessToken: text, lifetimeS }: TokensGiven, host: string): Token {
  // What it may consist of (RFC 6750): anything else would say more to the broker than a token.
  if (!/^[\w.~+/=-]+$/.test(text)) throw refused(host, message('ports.token_unreadable'));
  const lifetimeMs = (lifetimeS ?? LIFETIME_S) * 1_000;
  return { text, untilMs: Date.now() + Math.max(0, lifetimeMs - EARLY_MS) };
}

function refused(host: string, reason: Message): ServiceError {
  return new ServiceError('kafka_auth_failed', message('ports.kafka_token', { host, reason }));
}
