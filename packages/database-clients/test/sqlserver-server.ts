import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { TEST_CERTIFICATE, TEST_KEY } from '../../ports/test/certificate.ts';
import { INT4, int } from './sqlserver-cells.ts';
import { readParameters } from './sqlserver-parameters.ts';

/** A column of a result: its type as it stands in COLMETADATA, with its length, scale or collation. */
export interface SqlServerColumn {
  readonly name: string;
  readonly type: Buffer;
}

/** A part of an answer. Cells are encoded as in a row. */
export type SqlServerPart =
  | { readonly columns: readonly SqlServerColumn[]; readonly rows: Iterable<readonly Buffer[]> }
  /** The first row as one with a bitmap of its NULLs. */
  | { readonly columns: readonly SqlServerColumn[]; readonly compressed: readonly (Buffer | null)[] }
  /** Rows sent for as long as they are read. */
  | { readonly columns: readonly SqlServerColumn[]; readonly stream: AsyncIterable<readonly Buffer[]> }
  | { readonly affected: number }
  | { readonly error: number; readonly text: string; readonly severity?: number; readonly line?: number }
  /** Tokens as they are. */
  | { readonly raw: Buffer };

export type SqlServerReply =
  | readonly SqlServerPart[]
  /** No reply until an attention comes. */
  | 'silence'
  /** These parts, then no more until an attention comes. */
  | { readonly before: readonly SqlServerPart[] }
  /** No reply until an attention comes; the statement had ended, and this is its reply. */
  | { readonly ended: readonly SqlServerPart[] }
  | 'cut';

export interface SqlServerStatement {
  readonly text: string;
  /** Absent for a batch. */
  readonly parameters?: readonly unknown[];
  /** As the client declares them. */
  readonly declared?: string;
  /** The transaction that the request names. */
  readonly transaction: bigint;
}

export interface SqlServerServer {
  readonly port: number;
  readonly statements: readonly SqlServerStatement[];
  /** Sign-ins: the server that the client names, and whether password and session came encrypted. */
  readonly signIns: readonly { readonly host: string; readonly isEncrypted: boolean }[];
  attentions(): number;
  /** Requests that came encrypted. */
  encrypted(): number;
  close(): Promise<void>;
}

export interface SqlServerOptions {
  readonly password: string;
  /** As in PRELOGIN: `off` encrypts the sign-in only; without it there is no encryption. */
  readonly encryption?: 'off' | 'on' | 'required';
  readonly redirect?: { readonly host: string; readonly port: number };
  /** Instead of signing in. */
  readonly refusal?: { readonly error: number; readonly text: string };
  answer(text: string, parameters: readonly unknown[]): SqlServerReply;
}

const TRANSACTION = 0x1122334455667788n;

/** A server that speaks TDS 7.4 (PRELOGIN, TLS, LOGIN7, batches, sp_executesql, attentions) without a database. */
export async function startSqlServer(options: SqlServerOptions): Promise<SqlServerServer> {
  const log: Log = { statements: [], signIns: [], attentions: 0, encrypted: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    new Session(socket, options, log).listen();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    statements: log.statements,
    signIns: log.signIns,
    attentions: () => log.attentions,
    encrypted: () => log.encrypted,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

interface Log {
  readonly statements: SqlServerStatement[];
  readonly signIns: { readonly host: string; readonly isEncrypted: boolean }[];
  attentions: number;
  encrypted: number;
}

/** Carries TLS: in packets while hands are shaken, as it is afterwards. */
class Tunnel extends Duplex {
  readonly send: (bytes: Buffer) => void;
  constructor(send: (bytes: Buffer) => void) {
    super();
    this.send = send;
  }
  override _read(): void {}
  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.send(Buffer.from(bytes));
    done();
  }
}

class Session {
  readonly #socket: Socket;
  readonly #options: SqlServerOptions;
  readonly #log: Log;
  #received = Buffer.alloc(0);
  #message: Buffer[] = [];
  #tunnel: Tunnel | null = null;
  #tls: TLSSocket | null = null;
  /** What is going on in the stream of bytes. */
  #phase: 'packets' | 'handshake' | 'tls' = 'packets';
  #isSignedIn = false;
  #isSignInOnly = false;
  #areHandsShaken = false;
  #waiting: readonly SqlServerPart[] | 'stopped' | null = null;
  #transaction = 0n;

  constructor(socket: Socket, options: SqlServerOptions, log: Log) {
    this.#socket = socket;
    this.#options = options;
    this.#log = log;
  }

  listen(): void {
    this.#socket.on('data', (chunk: Buffer) => {
      // Up to here, what TLS writes is part of the handshake.
      if (this.#areHandsShaken) this.#phase = 'tls';
      if (this.#phase === 'tls') this.#tunnel?.push(chunk);
      else this.#packets(chunk);
    });
  }

  #packets(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= 8) {
      const length = this.#received.readUInt16BE(2);
      if (this.#received.length < length) return;
      const packet = this.#received.subarray(0, length);
      this.#received = this.#received.subarray(length);
      if (this.#phase === 'handshake') {
        this.#tunnel?.push(packet.subarray(8));
        continue;
      }
      this.#message.push(packet.subarray(8));
      if ((packet.readUInt8(1) & 1) === 0) continue;
      const message = Buffer.concat(this.#message);
      this.#message = [];
      this.#take(packet.readUInt8(0), message);
    }
  }

  #take(type: number, message: Buffer): void {
    if (type === 0x12) this.#preLogin(message);
    else if (type === 0x10) this.#signIn(message);
    else if (type === 0x06) this.#attention();
    else if (this.#isSignedIn) this.#request(type, message);
  }

  #preLogin(message: Buffer): void {
    const { encryption } = this.#options;
    const wanted = preLoginEncryption(message);
    const code = { off: wanted, on: 1, required: 3 }[encryption ?? 'off'];
    const said = encryption === undefined ? 2 : code;
    // Version 15.0 and the encryption.
    const body = Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 15, 0, 7, 208, 0, 0, said]);
    this.#write(body);
    if (said === 2) return;
    this.#phase = 'handshake';
    this.#tunnel = new Tunnel((bytes) => {
      if (this.#phase === 'handshake') this.#writePackets(bytes, 0x12);
      else this.#socket.write(bytes);
    });
    this.#tls = new TLSSocket(this.#tunnel as unknown as Socket, {
      isServer: true,
      maxVersion: 'TLSv1.2',
      key: TEST_KEY,
      cert: TEST_CERTIFICATE,
    });
    this.#tls.on('error', () => this.#socket.destroy());
    this.#tls.on('secure', () => {
      this.#areHandsShaken = true;
    });
    const isSignInOnly = said === 0;
    this.#tls.on('data', (chunk: Buffer) => {
      // Only the first message is encrypted.
      if (isSignInOnly) {
        this.#phase = 'packets';
        this.#areHandsShaken = false;
      }
      this.#packets(chunk);
    });
    this.#isSignInOnly = isSignInOnly;
  }

  #signIn(message: Buffer): void {
    const text = (place: number): Buffer => {
      const at = message.readUInt16LE(place);
      return message.subarray(at, at + 2 * message.readUInt16LE(place + 2));
    };
    const password = Buffer.from(text(44).map((byte) => byte ^ 0xa5)).map(
      (byte) => ((byte & 15) << 4) | (byte >> 4),
    );
    const user = text(40).toString('utf16le');
    const host = text(52).toString('utf16le');
    if (message.readUInt32LE(0) !== message.length) throw new Error('the length is wrong');
    if (text(68).toString('utf16le') !== 'shop') throw new Error('the client names no database');
    this.#log.signIns.push({ host, isEncrypted: this.#tls !== null });
    if (this.#tls !== null && this.#isSignInOnly) this.#tls = null;
    const { refusal, redirect } = this.#options;
    if (refusal !== undefined) {
      this.#reply([{ ...refusal, severity: 14 }]);
      return;
    }
    if (Buffer.from(password).toString('utf16le') !== this.#options.password) {
      this.#reply([{ error: 18_456, text: `Login failed for user '${user}'.`, severity: 14 }]);
      return;
    }
    this.#isSignedIn = true;
    const change = redirect === undefined ? Buffer.alloc(0) : redirection(redirect);
    this.#write(Buffer.concat([COLLATION, SIGNED_IN, change, FEATURES, done(0xfd, 0, 0, 0)]));
  }

  #request(type: number, message: Buffer): void {
    if (this.#tls !== null) this.#log.encrypted += 1;
    const transaction = message.readBigUInt64LE(10);
    const body = message.subarray(message.readUInt32LE(0));
    if (type === 0x01) {
      const text = body.toString('utf16le');
      this.#log.statements.push({ text, transaction });
      const isBegin = text.includes('BEGIN TRANSACTION');
      if (isBegin) this.#transaction = TRANSACTION;
      this.#write(Buffer.concat([isBegin ? begun() : Buffer.alloc(0), done(0xfd, 0, 0, 0)]));
      return;
    }
    if (transaction !== this.#transaction) throw new Error('the request names another transaction');
    const [text, declared, ...parameters] = readParameters(body);
    this.#log.statements.push({
      text: String(text),
      declared: typeof declared === 'string' ? declared : '',
      parameters,
      transaction,
    });
    const reply = this.#options.answer(String(text), parameters);
    if (reply === 'cut') this.#socket.destroy();
    else if (reply === 'silence') this.#waiting = 'stopped';
    else if ('ended' in reply) this.#waiting = reply.ended;
    else if ('before' in reply) {
      this.#waiting = 'stopped';
      this.#writePackets(Buffer.concat(reply.before.map(part)), 0x04, false);
    } else this.#answer(reply);
  }

  #attention(): void {
    this.#log.attentions += 1;
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null && waiting !== 'stopped') this.#reply(waiting);
    // What was cut short may end like a whole answer.
    if (waiting === 'stopped') this.#write(done(0xfd, 0, 0, 0));
    this.#write(done(0xfd, 0x20, 0, 0));
  }

  #answer(parts: readonly SqlServerPart[]): void {
    const [first] = parts;
    if (first === undefined || !('stream' in first)) {
      this.#reply(parts);
      return;
    }
    const send = async (): Promise<void> => {
      this.#writePackets(columns(first.columns), 0x04, false);
      for await (const row of first.stream) {
        if (this.#socket.destroyed) return;
        this.#writePackets(Buffer.concat([Buffer.from([0xd1]), ...row]), 0x04, false);
      }
      this.#reply([]);
    };
    void send();
  }

  #reply(parts: readonly SqlServerPart[]): void {
    const hasError = parts.some((each) => 'error' in each);
    const status = Buffer.from([0x79, 0, 0, 0, 0]);
    this.#write(Buffer.concat([...parts.map(part), status, done(0xfe, hasError ? 2 : 0, 0xe0, 0)]));
  }

  #write(body: Buffer): void {
    this.#writePackets(body, 0x04);
  }

  /** Small packets, so that values are cut wherever they can be. */
  #writePackets(body: Buffer, type: number, isLast = true): void {
    const size = body.length > 4_000 ? 4_000 : 61;
    for (let at = 0; at < body.length; at += size) {
      const payload = body.subarray(at, at + size);
      const head = Buffer.from([type, isLast && at + size >= body.length ? 1 : 0, 0, 0, 0, 51, 1, 0]);
      head.writeUInt16BE(payload.length + 8, 2);
      const out =
        type === 0x12 || this.#tls === null || this.#phase === 'handshake' ? this.#socket : this.#tls;
      out.write(Buffer.concat([head, payload]));
    }
  }
}

function preLoginEncryption(message: Buffer): number {
  for (let at = 0; message[at] !== 0xff; at += 5) {
    if (message[at] === 1) return message[message.readUInt16BE(at + 1)] ?? 2;
  }
  throw new Error('the client says nothing about encryption');
}

function part(each: SqlServerPart): Buffer {
  if ('raw' in each) return each.raw;
  if ('affected' in each) return done(0xff, 0x11, 0xc3, each.affected);
  if ('error' in each) return errorToken(each);
  if ('stream' in each) throw new Error('a stream is a whole answer');
  if ('compressed' in each) {
    const bits = Buffer.alloc(Math.ceil(each.compressed.length / 8));
    for (const [index, cell] of each.compressed.entries()) {
      if (cell === null) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
    }
    const cells = each.compressed.filter((cell) => cell !== null);
    return Buffer.concat([
      columns(each.columns),
      Buffer.from([0xd2]),
      bits,
      ...cells,
      done(0xff, 0x11, 0xc1, 1),
    ]);
  }
  const rows = [...each.rows];
  const sent = rows.map((row) => Buffer.concat([Buffer.from([0xd1]), ...row]));
  return Buffer.concat([columns(each.columns), ...sent, done(0xff, 0x11, 0xc1, rows.length)]);
}

function columns(all: readonly SqlServerColumn[]): Buffer {
  const head = Buffer.alloc(3);
  head.writeUInt8(0x81);
  head.writeUInt16LE(all.length, 1);
  const each = all.map(({ name, type }) => {
    const token = type.readUInt8(0);
    const table = [0x22, 0x23, 0x63].includes(token)
      ? Buffer.concat([Buffer.from([1]), usText('t')])
      : Buffer.alloc(0);
    return Buffer.concat([Buffer.from([0, 0, 0, 0, 9, 0]), type, table, bText(name)]);
  });
  return Buffer.concat([head, ...each]);
}

function errorToken({
  error,
  text,
  severity = 16,
  line = 1,
}: Extract<SqlServerPart, { error: number }>): Buffer {
  const body = Buffer.concat([
    int32(error),
    Buffer.from([3, severity]),
    usText(text),
    bText('DBSERVER'),
    bText(''),
    int32(line),
  ]);
  const head = Buffer.from([0xaa, 0, 0]);
  head.writeUInt16LE(body.length, 1);
  return Buffer.concat([head, body]);
}

export function done(token: number, status: number, command: number, count: number): Buffer {
  const buffer = Buffer.alloc(13);
  buffer.writeUInt8(token, 0);
  buffer.writeUInt16LE(status, 1);
  buffer.writeUInt16LE(command, 3);
  buffer.writeBigUInt64LE(BigInt(count), 5);
  return buffer;
}

function envChange(kind: number, body: Buffer): Buffer {
  const head = Buffer.from([0xe3, 0, 0, kind]);
  head.writeUInt16LE(body.length + 1, 1);
  return Buffer.concat([head, body]);
}

function begun(): Buffer {
  const body = Buffer.alloc(10);
  body.writeUInt8(8, 0);
  body.writeBigUInt64LE(TRANSACTION, 1);
  return envChange(8, body);
}

function redirection({ host, port }: { readonly host: string; readonly port: number }): Buffer {
  const name = Buffer.from(host, 'utf16le');
  const head = Buffer.alloc(7);
  head.writeUInt16LE(5 + name.length, 0);
  head.writeUInt16LE(port, 3);
  head.writeUInt16LE(name.length / 2, 5);
  return envChange(20, Buffer.concat([head, name, Buffer.alloc(2)]));
}

/** Latin1_General_CI_AS with UTF-16 names around it. */
const COLLATION = envChange(7, Buffer.from([5, 0x09, 0x04, 0xd0, 0x00, 0x34, 0]));
const SIGNED_IN = (() => {
  const body = Buffer.concat([Buffer.from([1, 0x74, 0, 0, 4]), bText('Fake'), Buffer.from([15, 0, 7, 208])]);
  const head = Buffer.from([0xad, 0, 0]);
  head.writeUInt16LE(body.length, 1);
  return Buffer.concat([head, body]);
})();
const FEATURES = Buffer.from([0xae, 0x0a, 1, 0, 0, 0, 1, 0xff]);

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32LE(value);
  return buffer;
}

function bText(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'utf16le')]);
}

function usText(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length & 255, text.length >> 8]), Buffer.from(text, 'utf16le')]);
}

/** A result with one column, `n`, that counts from 1. */
export function table(count: number): SqlServerPart {
  return {
    columns: [{ name: 'n', type: INT4 }],
    rows: Array.from({ length: count }, (_, index) => [int(index + 1, 4)]),
  };
}

export function numbers(count: number): SqlServerReply {
  return [table(count)];
}

export function textsOf(server: SqlServerServer): string[] {
  return server.statements.map((statement) => statement.text);
}
