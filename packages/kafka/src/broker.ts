import type { Socket } from 'node:net';
import { ByteQueue } from '@millrace/egress/byte-queue';
import { cutOnAbort } from '@millrace/egress/cut-on-abort';
import type { GuardedFetch } from '@millrace/egress/guarded-fetch';
import type { GuardedSockets, SocketTarget } from '@millrace/egress/guarded-socket';
import { normalisePem } from '@millrace/egress/pem';
import { ScramError } from '@millrace/egress/scram';
import { type CredentialOf, HttpClientError, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { ByteReader, ByteWriter, KafkaProtocolError } from './bytes.ts';
import { CODE, connectionFailed, nameOf } from './errors.ts';
import type { Gate } from './gate.ts';
import type { BrokerAddress } from './protocol/metadata.ts';
import {
  API,
  type ApiName,
  apiVersions,
  commonVersion,
  type Request,
  saslAuthenticate,
  saslHandshake,
  type Versions,
} from './protocol/request.ts';
import { type Login, type SaslMechanism, signIn, TokenRefusedError } from './sasl.ts';

/** Limit of a response with messages; brokers send a whole batch even if it is larger than requested. */
export const MAX_FETCH_BYTES = 8 * 1024 * 1024;
/** Limit of any other response. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** Responses up to this size are read at once, larger ones one at a time. */
const SMALL_BYTES = 64 * 1024;
/** Timeout of a response, in addition to the time that the broker is asked to wait. */
export const RESPONSE_MS = 20_000;
const CLIENT_ID = 'millrace';

/** How brokers are reached, for whatever a credential is used for. */
export interface BrokerOptions {
  readonly sockets: GuardedSockets;
  /** For tokens. */
  readonly fetch: Pick<GuardedFetch, 'fetch'>;
  readonly credential: CredentialOf<'kafka'>;
  readonly signal: AbortSignal;
}

/** Where tokens for signing in come from. */
export interface Tokens {
  get(): Promise<string>;
}

interface Pending {
  readonly id: number;
  readonly maxBytes: number;
  /** Large responses wait here before they are read. */
  readonly gate: Gate | null;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
  readonly timeoutMs: number;
  timer: NodeJS.Timeout;
}

interface Reply {
  readonly body: Buffer;
  readonly release: () => void;
}

/** A parsed response. Release it once it is used, so that the next large one can be read. */
export interface BufferedResponse<Result> {
  readonly response: Result;
  readonly release: () => void;
}

/** A connection to one broker, which responds to requests in order. */
export class BrokerConnection {
  readonly where: string;
  readonly #socket: Socket;
  #versions: Versions = new Map();
  readonly #pending: Pending[] = [];
  readonly #received = new ByteQueue();
  /** Of the response that is arriving. */
  #size: number | null = null;
  #isAtGate = false;
  #release: () => void = () => undefined;
  #ended: Error | null = null;
  #id = 0;

  private constructor(socket: Socket, where: string) {
    this.#socket = socket;
    this.where = where;
    socket.setNoDelay(true);
    socket.on('data', (piece: Buffer) => {
      this.#received.push(piece);
      this.#read();
    });
    socket.on('error', (error) => this.#end(error));
    socket.on('close', () => this.#end(new Error('the broker closed the connection')));
  }

  /**
   * Connects, negotiates versions, and signs in.
   * @throws ServiceError kafka_*, HttpClientError of a broker that may not be reached
   */
  static async open(
    { sockets, credential, signal }: BrokerOptions,
    address: BrokerAddress,
    tokens: Tokens,
  ): Promise<BrokerConnection> {
    const where = nameOf(address);
    const target = { ...address, ...encryptionOf(credential) };
    const socket = await sockets.connect(target, signal).catch((error: unknown) => {
      const isPassing =
        error instanceof HttpClientError && ['timeout', 'connection_failed'].includes(error.code);
      throw isPassing ? connectionFailed(where, error) : error;
    });
    const connection = new BrokerConnection(socket, where);
    const close = (): void => connection.close();
    try {
      await cutOnAbort(signal, close, async () => {
        const { versions } = await connection.call(apiVersions());
        connection.#versions = versions;
        await connection.#signIn(credential, tokens);
      });
      return connection;
    } catch (error) {
      close();
      throw error;
    }
  }

  /** Whether it has ended. */
  get isEnded(): boolean {
    return this.#ended !== null;
  }

  /** The version of this API that both sides use. @throws ServiceError kafka_unsupported */
  version(api: ApiName): number {
    const version = commonVersion(api, this.#versions);
    if (version !== null) return version;
    throw new ServiceError(
      'kafka_unsupported',
      message('ports.kafka_unsupported', { host: this.where, api: `${API[api]}` }),
    );
  }

  /** @throws ServiceError kafka_connection_failed */
  async call<Result>(request: Request<Result>, waitMs = 0, maxBytes = MAX_RESPONSE_BYTES): Promise<Result> {
    const { response, release } = await this.#send(request, { waitMs, maxBytes, gate: null });
    release();
    return response;
  }

  /**
   * Fetches messages.
   * @param gate where large responses wait before they are read
   * @throws ServiceError kafka_connection_failed
   */
  async fetch<Result>(
    request: Request<Result>,
    waitMs: number,
    gate: Gate,
  ): Promise<BufferedResponse<Result>> {
    return await this.#send(request, { waitMs, maxBytes: MAX_FETCH_BYTES, gate });
  }

  close(): void {
    this.#end(new Error('the connection was closed'));
  }

  async #send<Result>(
    { api, version, write, read }: Request<Result>,
    {
      waitMs,
      maxBytes,
      gate,
    }: { readonly waitMs: number; readonly maxBytes: number; readonly gate: Gate | null },
  ): Promise<BufferedResponse<Result>> {
    if (this.#ended !== null) throw connectionFailed(this.where, this.#ended);
    this.#id = (this.#id + 1) % 0x7fffffff;
    const id = this.#id;
    const writer = new ByteWriter().int16(API[api]).int16(version).int32(id).string(CLIENT_ID);
    write(writer);
    const content = writer.result();
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const timeoutMs = waitMs + RESPONSE_MS;
    this.#pending.push({ id, maxBytes, gate, resolve, reject, timeoutMs, timer: this.#limit(timeoutMs) });
    this.#socket.write(Buffer.concat([new ByteWriter().int32(content.byteLength).result(), content]));
    const { body, release } = await promise;
    try {
      return { response: read(new ByteReader(body)), release };
    } catch (error) {
      release();
      this.#end(error instanceof Error ? error : new Error(String(error)));
      throw connectionFailed(this.where, error);
    }
  }

  #limit(timeoutMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#end(new Error('the broker does not answer')), timeoutMs).unref();
  }

  /** Takes whole responses from what has arrived. */
  #read(): void {
    try {
      while (!this.#isAtGate && this.#ended === null && this.#readOne()) {
        // The next one.
      }
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** @returns whether there may be another one */
  #readOne(): boolean {
    const [next] = this.#pending;
    if (this.#size === null) {
      if (this.#received.length < 4) return false;
      const start = this.#received.take(4);
      const size = start.readInt32BE(0);
      // A record of TLS: an alert, or its greeting.
      if (start[0] === 0x15 && start[1] === 3)
        throw new KafkaProtocolError('it wants an encrypted connection');
      if (next === undefined) throw new KafkaProtocolError('it answers without being asked');
      if (size < 4 || size > next.maxBytes) {
        throw new KafkaProtocolError(`an answer of ${size} bytes; at most ${next.maxBytes} are read`);
      }
      this.#size = size;
      if (next.gate !== null && size > SMALL_BYTES) {
        this.#waitAt(next.gate, next);
        return false;
      }
    }
    if (next === undefined || this.#received.length < this.#size) return false;
    const body = this.#received.take(this.#size);
    this.#size = null;
    if (body.readInt32BE(0) !== next.id) throw new KafkaProtocolError('it answers another request');
    this.#pending.shift();
    clearTimeout(next.timer);
    const release = this.#release;
    this.#release = () => undefined;
    next.resolve({ body: body.subarray(4), release });
    return true;
  }

  #waitAt(gate: Gate, next: Pending): void {
    this.#isAtGate = true;
    this.#socket.pause();
    clearTimeout(next.timer);
    void gate.enter().then((leave) => {
      if (this.#ended !== null) {
        leave();
        return;
      }
      this.#release = leave;
      this.#isAtGate = false;
      next.timer = this.#limit(next.timeoutMs);
      this.#socket.resume();
      this.#read();
    });
  }

  #end(error: Error): void {
    if (this.#ended !== null) return;
    this.#ended = error;
    this.#socket.destroy();
    this.#received.clear();
    this.#release();
    for (const { reject, timer } of this.#pending.splice(0)) {
      clearTimeout(timer);
      reject(connectionFailed(this.where, error));
    }
  }

  async #signIn(credential: BrokerOptions['credential'], tokens: Tokens): Promise<void> {
    const { mechanism, username, password } = credential;
    if (mechanism === 'none') return;
    const name = MECHANISMS[mechanism];
    const { error, mechanisms } = await this.call(saslHandshake(name));
    if (error !== CODE.none) {
      const offered = mechanisms.slice(0, 10).join(', ').slice(0, 200);
      throw new ServiceError(
        'kafka_auth_failed',
        message('ports.kafka_mechanism', {
          host: this.where,
          mechanism: name,
          offered: offered === '' ? '–' : offered,
        }),
      );
    }
    const ask = async (said: Buffer): Promise<Buffer> => {
      const reply = await this.call(saslAuthenticate(said));
      if (reply.error === CODE.none) return reply.answer;
      throw new ServiceError('kafka_auth_failed', message('ports.sign_in_refused', { host: this.where }));
    };
    try {
      const login: Login =
        name === 'OAUTHBEARER'
          ? { mechanism: name, token: await tokens.get(), extensions: extensionsOf(credential.extensions) }
          : { mechanism: name, username: username ?? '', password: password ?? '' };
      await signIn(login, ask);
    } catch (error) {
      if (!(error instanceof ScramError || error instanceof TokenRefusedError)) throw error;
      throw new ServiceError(
        'kafka_auth_failed',
        message('ports.kafka_sign_in', { host: this.where, reason: error.message }),
      );
    }
  }
}

/** How connections to brokers are encrypted, and what they are shown. */
function encryptionOf(credential: CredentialOf<'kafka'>): Pick<SocketTarget, 'tls'> {
  const { tls, certificate, private_key: privateKey, passphrase, authority } = credential;
  if (tls === 'off') return {};
  const identity =
    certificate == null || privateKey == null
      ? {}
      : {
          identity: {
            certificate: normalisePem(certificate),
            privateKey: normalisePem(privateKey),
            passphrase: passphrase ?? null,
          },
        };
  const own = authority == null ? {} : { authority: normalisePem(authority) };
  return { tls: { isVerified: tls === 'verify', ...identity, ...own } };
}

function extensionsOf(text: string | null | undefined): readonly (readonly [string, string])[] {
  return (text ?? '').split(',').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=');
    return name.trim() === '' ? [] : [[name.trim(), value.join('=').trim()] as const];
  });
}

const MECHANISMS = {
  plain: 'PLAIN',
  scram_sha_256: 'SCRAM-SHA-256',
  scram_sha_512: 'SCRAM-SHA-512',
  oauth_bearer: 'OAUTHBEARER',
} as const satisfies Record<Exclude<CredentialOf<'kafka'>['mechanism'], 'none'>, SaslMechanism>;
