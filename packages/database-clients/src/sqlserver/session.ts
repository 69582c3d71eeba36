import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { JsonValue } from '@millrace/engine';
import { encrypt } from './encrypted.ts';
import { MESSAGE, PACKET_BYTES, PacketReader, ProtocolError, packetsOf } from './packets.ts';
import { parameterOf, statementCall } from './parameters.ts';
import { Feed } from './reading.ts';
import { type Account, ENCRYPTION, encryptionOf, preLogin, signInMessage, utf16 } from './sign-in.ts';
import { type Done, type Listener, readTokens, type ServerError } from './tokens.ts';
import type { Meter } from './values.ts';

/** `off`: only the sign-in is encrypted, unless the server wants more. */
export type Encryption = 'off' | 'require' | 'verify';

/** The server refused a statement, or the sign-in. */
export class SqlServerFault extends Error {
  readonly said: ServerError;
  constructor(said: ServerError) {
    super(said.text);
    this.said = said;
  }
}

/** The statement was stopped by an attention. */
export class Stopped extends Error {
  constructor() {
    super('the statement was stopped');
  }
}

/** The server offers no encryption. */
export class NotEncrypted extends Error {}

/** Where the server sends its clients instead. */
export interface Redirect {
  readonly host: string;
  readonly port: number;
}

/** What the caller of a statement gets. */
export type Results = Pick<Listener, 'columns' | 'meter' | 'row' | 'done'>;

const CHANGE = { collation: 7, begin: 8, commit: 9, rollback: 10, redirect: 20 } as const;
const NO_TRANSACTION = Buffer.alloc(8);
const NO_RESULTS: Results = {
  columns: () => undefined,
  meter: () => null,
  row: () => undefined,
  done: () => undefined,
};
/** An answer to PRELOGIN has a few dozen. */
const MAX_PRELOGIN_BYTES = 4_096;

interface Exchange {
  readonly take: (payload: Buffer) => void;
  /** A message has ended; whether that is the whole answer. */
  readonly ended: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A session with SQL Server over a socket that is connected already (MS-TDS 7.4). One request at a time. */
export class SqlServerSession {
  readonly #socket: Socket;
  #stream: Duplex;
  #reader = new PacketReader([MESSAGE.answer]);
  #exchange: Exchange | null = null;
  #lost: Error | null = null;
  #collation = Buffer.alloc(5);
  #transaction = NO_TRANSACTION;
  #isAttentionSent = false;
  readonly #receive = (bytes: Buffer): void => this.#read(bytes);

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#stream = socket;
    this.#listen(socket);
  }

  /**
   * Signs in.
   * @returns null, or where to go instead
   * @throws NotEncrypted, SqlServerFault, and errors of the connection
   */
  async signIn(account: Account, encryption: Encryption): Promise<Redirect | null> {
    const wanted = encryption === 'off' ? ENCRYPTION.off : ENCRYPTION.on;
    const offered = encryptionOf(await this.#preLogin(preLogin(wanted)));
    if (offered === ENCRYPTION.unsupported || (offered === ENCRYPTION.off && wanted === ENCRYPTION.on)) {
      if (wanted === ENCRYPTION.on) throw new NotEncrypted('the server offers no encryption');
    } else await this.#encrypt(account.host, encryption, offered === ENCRYPTION.off);
    let redirect: Redirect | null = null;
    let isSignedIn = false;
    const message = signInMessage(account, PACKET_BYTES);
    await this.#ask(MESSAGE.signIn, message, NO_RESULTS, {
      changed: (kind, value) => {
        if (kind === CHANGE.redirect) redirect = redirectOf(value);
      },
      signedIn: () => {
        isSignedIn = true;
      },
    });
    // What is encrypted for the sign-in only isn't afterwards.
    if (this.#stream !== this.#socket && offered === ENCRYPTION.off) this.#stream = this.#socket;
    if (redirect === null && !isSignedIn)
      throw new ProtocolError('the server asks for another kind of sign-in');
    return redirect;
  }

  /** Runs statements without parameters, whose results aren't wanted. */
  async batch(sql: string): Promise<void> {
    await this.#ask(MESSAGE.batch, Buffer.concat([this.#headers(), utf16(sql)]), NO_RESULTS);
  }

  /**
   * Runs a text with its parameters bound.
   * @throws SqlServerFault with the first error, at the end of the answer; Stopped; errors of the connection and of `results`
   */
  async execute(sql: string, values: readonly JsonValue[], results: Results): Promise<void> {
    const parameters = values.map((value) => parameterOf(value, this.#collation));
    const call = statementCall(sql, parameters, this.#collation);
    await this.#ask(MESSAGE.call, Buffer.concat([this.#headers(), call]), results);
  }

  /** Asks the server to stop what runs; it still answers. */
  attention(): void {
    this.#isAttentionSent = true;
    this.#stream.write(packetsOf(MESSAGE.attention, Buffer.alloc(0)));
  }

  #listen(stream: Duplex): void {
    stream.on('data', this.#receive);
    stream.on('error', (error: Error) => this.#lose(error));
    stream.on('close', () => this.#lose(new Error('the server closed the connection')));
  }

  async #encrypt(host: string, encryption: Encryption, onlySignIn: boolean): Promise<void> {
    this.#socket.off('data', this.#receive);
    const encrypted = await encrypt(this.#socket, host, encryption === 'verify');
    this.#stream = encrypted.stream;
    this.#reader = new PacketReader([MESSAGE.answer]);
    this.#listen(encrypted.stream);
    if (onlySignIn) encrypted.receivePlain(this.#receive);
  }

  /** All requests name their transaction (MS-TDS 2.2.5.3). */
  #headers(): Buffer {
    const headers = Buffer.alloc(22);
    headers.writeUInt32LE(22, 0);
    headers.writeUInt32LE(18, 4);
    headers.writeUInt16LE(2, 8);
    this.#transaction.copy(headers, 10);
    headers.writeUInt32LE(1, 18);
    return headers;
  }

  async #preLogin(message: Buffer): Promise<Buffer> {
    const parts: Buffer[] = [];
    let length = 0;
    await this.#send(MESSAGE.preLogin, message, {
      take: (payload) => {
        length += payload.length;
        if (length > MAX_PRELOGIN_BYTES)
          throw new ProtocolError('the answer to the first message is too long');
        parts.push(payload);
      },
      ended: () => true,
    });
    return Buffer.concat(parts);
  }

  async #ask(
    type: number,
    message: Buffer,
    results: Results,
    more: Partial<Pick<Listener, 'changed' | 'signedIn'>> = {},
  ): Promise<void> {
    let fault: ServerError | null = null;
    let last: Done | null = null;
    let hasReturned = false;
    let isDone = false;
    let isStopped = false;
    const feed = new Feed(
      readTokens({
        columns: (columns) => results.columns(columns),
        meter: (): Meter => results.meter(),
        row: (values) => results.row(values),
        // What follows the first one is about its consequences.
        error: (said) => {
          fault ??= said;
        },
        done: (done) => {
          if (done.isAttention) isStopped = true;
          else isDone = hasReturned && !done.hasMore && !done.hasError;
          last = done;
          results.done(done);
        },
        returned: () => {
          hasReturned = true;
        },
        changed: (kind, value) => {
          this.#changed(kind, value);
          more.changed?.(kind, value);
        },
        signedIn: () => more.signedIn?.(),
      }),
    );
    await this.#send(type, message, {
      take: (payload) => feed.push(payload),
      ended: () => {
        const isWhole = last !== null && !last.hasMore && feed.isEmpty;
        // An answer may look like a whole one although an attention has cut it short.
        if (this.#isAttentionSent) return isStopped;
        if (!isWhole) throw new ProtocolError("the server's answer ends in the middle");
        return true;
      },
    });
    // Only a call that has returned had ended before the attention came.
    if (isStopped && !isDone) throw new Stopped();
    if (fault !== null) throw new SqlServerFault(fault);
  }

  #send(type: number, message: Buffer, { take, ended }: Pick<Exchange, 'take' | 'ended'>): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== null) {
        reject(this.#lost);
        return;
      }
      this.#exchange = { take, ended, resolve, reject };
      this.#stream.write(packetsOf(type, message));
    });
  }

  #read(bytes: Buffer): void {
    try {
      this.#reader.read(bytes, (payload, endsMessage) => {
        const exchange = this.#exchange;
        // What nobody waits for, such as the answer to an attention that came too late.
        if (exchange === null) return;
        exchange.take(payload);
        if (!endsMessage || !exchange.ended()) return;
        this.#exchange = null;
        exchange.resolve();
      });
    } catch (error) {
      this.#lose(error);
      this.#socket.destroy();
    }
  }

  #lose(error: unknown): void {
    this.#lost ??=
      error instanceof Error ? error : new Error('the answer could not be read', { cause: error });
    const exchange = this.#exchange;
    this.#exchange = null;
    exchange?.reject(error);
  }

  #changed(kind: number, value: Buffer): void {
    // Each has the new value after its length.
    const fresh = value.subarray(1, 1 + (value[0] ?? 0));
    if (kind === CHANGE.collation && fresh.length === 5) this.#collation = Buffer.from(fresh);
    else if (kind === CHANGE.begin && fresh.length === 8) this.#transaction = Buffer.from(fresh);
    else if (kind === CHANGE.commit || kind === CHANGE.rollback) this.#transaction = NO_TRANSACTION;
  }
}

/** Length, protocol, port, and the name of the server. */
function redirectOf(value: Buffer): Redirect {
  const port = value.readUInt16LE(3);
  const end = 7 + 2 * value.readUInt16LE(5);
  return { port, host: value.toString('utf16le', 7, end) };
}
