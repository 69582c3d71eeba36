import { createHash, randomBytes } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { TEST_CERTIFICATE, TEST_KEY } from '../../ports/test/certificate.ts';

/** A column of a result; `type` as in MySQL's "Column Definition Packet". */
export interface MysqlColumn {
  readonly name: string;
  readonly type: number;
  readonly isBinary?: boolean;
  readonly isUnsigned?: boolean;
  readonly decimals?: number;
}

type MysqlRow = readonly (Buffer | null)[];

/** The reply to a statement. Cells are encoded as in a binary row; null is NULL. */
export type MysqlReply =
  | { readonly columns: readonly MysqlColumn[]; readonly rows: Iterable<MysqlRow> }
  /** Rows sent for as long as they are read. */
  | { readonly columns: readonly MysqlColumn[]; readonly stream: AsyncIterable<MysqlRow> }
  /** `insertId` is unsigned, up to 64 bits, as in MySQL. */
  | { readonly affectedRows: number; readonly insertId?: bigint }
  | { readonly errno: number; readonly sqlstate: string; readonly message: string }
  /** No reply until another connection sends KILL QUERY. */
  | 'silence'
  /** No reply before that, then this one. */
  | { readonly whenKilled: MysqlReply }
  /** The connection is cut. */
  | 'cut';

export interface MysqlServer {
  readonly port: number;
  /** Every statement in order, plain ones without parameters. */
  readonly statements: readonly { readonly text: string; readonly parameters?: readonly unknown[] }[];
  /** How many connections were encrypted. */
  encrypted(): number;
  close(): Promise<void>;
}

const CAPABILITIES = 0x3fb28f;
const SSL = 0x800;
const CONNECT_WITH_DB = 8;
const KILLED = { errno: 1317, sqlstate: '70100', message: 'Query execution was interrupted' };
const DENIED = { errno: 1045, sqlstate: '28000' };

/** A server that speaks MySQL's wire protocol (handshake, native passwords, TLS, prepared statements) without a database. */
export async function startMysql(options: {
  readonly password: string;
  readonly hasTls?: boolean;
  answer(text: string, parameters: readonly unknown[]): MysqlReply;
}): Promise<MysqlServer> {
  const statements: { text: string; parameters?: readonly unknown[] }[] = [];
  const sessions = new Map<number, Session>();
  let encrypted = 0;
  // Like the real one: a client that has closed its side still gets its reply.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const id = sessions.size + 1;
    const session = new Session(socket, id, options, statements, {
      kill: (other) => sessions.get(other)?.interrupt(),
      onEncrypted: () => {
        encrypted += 1;
      },
    });
    sessions.set(id, session);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    statements,
    encrypted: () => encrypted,
    close() {
      for (const session of sessions.values()) session.cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

class Session {
  #stream: Socket;
  readonly #options: Parameters<typeof startMysql>[0];
  readonly #statements: { text: string; parameters?: readonly unknown[] }[];
  readonly #hooks: { kill(id: number): void; onEncrypted(): void };
  readonly #scramble = randomBytes(20).map((byte) => (byte % 90) + 33);
  readonly #prepared = new Map<number, string>();
  #received = Buffer.alloc(0);
  #sequence = 0;
  #isSignedIn = false;
  #whenKilled: MysqlReply | null = null;

  constructor(
    socket: Socket,
    id: number,
    options: Parameters<typeof startMysql>[0],
    statements: { text: string; parameters?: readonly unknown[] }[],
    hooks: { kill(id: number): void; onEncrypted(): void },
  ) {
    this.#stream = socket;
    this.#options = options;
    this.#statements = statements;
    this.#hooks = hooks;
    this.#listen(socket);
    const flags = options.hasTls === true ? CAPABILITIES | SSL : CAPABILITIES & ~SSL;
    this.#send(
      Buffer.concat([
        Buffer.from('\x0a8.0.36\0'),
        int(id, 4),
        this.#scramble.subarray(0, 8),
        int(0, 1),
        int(flags & 0xffff, 2),
        int(45, 1),
        int(2, 2),
        int(flags >>> 16, 2),
        int(21, 1),
        Buffer.alloc(10),
        this.#scramble.subarray(8),
        int(0, 1),
        Buffer.from('mysql_native_password\0'),
      ]),
    );
  }

  /** Ends the statement that is being delayed. */
  interrupt(): void {
    if (this.#whenKilled !== null) this.#reply(this.#whenKilled);
    this.#whenKilled = null;
  }

  cut(): void {
    this.#stream.destroy();
  }

  #listen(stream: Socket): void {
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      while (this.#received.length >= 4) {
        const length = this.#received.readUIntLE(0, 3);
        if (this.#received.length < 4 + length) return;
        this.#sequence = this.#received.readUInt8(3) + 1;
        const payload = this.#received.subarray(4, 4 + length);
        this.#received = this.#received.subarray(4 + length);
        if (this.#isSignedIn) this.#command(payload);
        else this.#signIn(payload);
      }
    });
  }

  #signIn(payload: Buffer): void {
    const flags = payload.readUInt32LE(0);
    if (payload.length === 32 && (flags & SSL) !== 0) {
      const plain = this.#stream.removeAllListeners('data').pause();
      // The client may have started TLS in the same segment.
      if (this.#received.length > 0) plain.unshift(this.#received);
      this.#received = Buffer.alloc(0);
      this.#stream = new TLSSocket(plain, { isServer: true, key: TEST_KEY, cert: TEST_CERTIFICATE });
      this.#stream.once('secure', () => this.#hooks.onEncrypted());
      this.#listen(this.#stream);
      return;
    }
    const userEnd = payload.indexOf(0, 32);
    const token = payload.subarray(userEnd + 2, userEnd + 2 + payload.readUInt8(userEnd + 1));
    if ((flags & CONNECT_WITH_DB) === 0) throw new Error('the client names no database');
    const user = payload.toString('utf8', 32, userEnd);
    this.#isSignedIn = token.equals(nativeToken(this.#options.password, this.#scramble));
    if (this.#isSignedIn) this.#reply({ affectedRows: 0 });
    else
      this.#reply({
        ...DENIED,
        message: `Access denied for user '${user}'@'10.1.2.3' (using password: YES)`,
      });
  }

  #command(payload: Buffer): void {
    const [code] = payload;
    const text = payload.toString('utf8', 1);
    if (code === 0x01) this.#stream.end();
    else if (code === 0x03) this.#query(text);
    else if (code === 0x16) this.#prepare(text);
    else if (code === 0x17) this.#execute(payload);
  }

  #query(text: string): void {
    this.#statements.push({ text });
    const killed = /^KILL QUERY (\d+)$/.exec(text)?.[1];
    if (killed !== undefined) this.#hooks.kill(Number(killed));
    this.#reply({ affectedRows: 0 });
  }

  #prepare(text: string): void {
    const id = this.#prepared.size + 1;
    this.#prepared.set(id, text);
    const count = countOfPlaces(text);
    this.#send(Buffer.concat([int(0, 1), int(id, 4), int(0, 2), int(count, 2), int(0, 1), int(0, 2)]));
    for (let index = 0; index < count; index += 1) this.#send(columnDefinition({ name: '?', type: 253 }));
    if (count > 0) this.#send(EOF);
  }

  #execute(payload: Buffer): void {
    const text = this.#prepared.get(payload.readUInt32LE(1)) ?? '';
    const parameters = parametersOf(payload, countOfPlaces(text));
    this.#statements.push({ text, parameters });
    const reply = this.#options.answer(text, parameters);
    this.#reply(reply);
  }

  #reply(reply: MysqlReply): void {
    if (reply === 'cut') this.cut();
    else if (reply === 'silence') this.#whenKilled = KILLED;
    else if ('whenKilled' in reply) this.#whenKilled = reply.whenKilled;
    else if ('errno' in reply) {
      const { errno, sqlstate, message } = reply;
      this.#send(Buffer.concat([int(0xff, 1), int(errno, 2), Buffer.from(`#${sqlstate}${message}`)]));
    } else if ('affectedRows' in reply) {
      const insertId = Buffer.alloc(9, 0xfe);
      insertId.writeBigUInt64LE(reply.insertId ?? 0n, 1);
      this.#send(Buffer.concat([int(0, 1), int(reply.affectedRows, 1), insertId, int(2, 2), int(0, 2)]));
    } else {
      this.#send(int(reply.columns.length, 1));
      for (const column of reply.columns) this.#send(columnDefinition(column));
      this.#send(EOF);
      if ('stream' in reply) {
        void this.#sendWhileTaken(reply.stream);
        return;
      }
      for (const row of reply.rows) {
        if (this.#stream.destroyed) return;
        this.#send(binaryRow(row));
      }
      this.#send(EOF);
    }
  }

  async #sendWhileTaken(rows: AsyncIterable<MysqlRow>): Promise<void> {
    for await (const row of rows) {
      if (this.#stream.destroyed) return;
      this.#send(binaryRow(row));
    }
    this.#send(EOF);
  }

  #send(payload: Buffer): void {
    this.#stream.write(Buffer.concat([int(payload.length, 3), int(this.#sequence % 256, 1), payload]));
    this.#sequence += 1;
  }
}

const EOF = Buffer.concat([int(0xfe, 1), int(0, 2), int(2, 2)]);

/** SHA1(password) XOR SHA1(scramble + SHA1(SHA1(password))) */
function nativeToken(password: string, scramble: Uint8Array): Buffer {
  const sha1 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
    const hash = createHash('sha1');
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
  const once = sha1(password);
  const mask = sha1(scramble, sha1(once));
  return Buffer.from(once.map((byte, index) => byte ^ (mask[index] ?? 0)));
}

function countOfPlaces(text: string): number {
  return text.replace(/'[^']*'/g, '').split('?').length - 1;
}

function columnDefinition({ name, type, isBinary, isUnsigned, decimals = 0 }: MysqlColumn): Buffer {
  const strings = ['def', '', '', '', name, name].map((text) => lengthCoded(Buffer.from(text)));
  const flags = (isUnsigned === true ? 0x20 : 0) | (isBinary === true ? 0x80 : 0);
  return Buffer.concat([
    ...strings,
    int(0x0c, 1),
    int(isBinary === true ? 63 : 45, 2),
    int(1024, 4),
    int(type, 1),
    int(flags, 2),
    int(decimals, 1),
    int(0, 2),
  ]);
}

/** The NULL bitmap starts at its third bit. */
function binaryRow(cells: readonly (Buffer | null)[]): Buffer {
  const bitmap = Buffer.alloc(Math.floor((cells.length + 9) / 8));
  for (const [index, cell] of cells.entries()) {
    const at = Math.floor((index + 2) / 8);
    if (cell === null) bitmap[at] = (bitmap[at] ?? 0) | (1 << ((index + 2) % 8));
  }
  return Buffer.concat([int(0, 1), bitmap, ...cells.filter((cell) => cell !== null)]);
}

/** TINY, DOUBLE and LONGLONG. */
const FIXED_SIZES = new Map([
  [1, 1],
  [5, 8],
  [8, 8],
]);

function parametersOf(payload: Buffer, count: number): unknown[] {
  if (count === 0) return [];
  const bitmap = payload.subarray(10, 10 + Math.ceil(count / 8));
  const types = 10 + bitmap.length + 1;
  let at = types + 2 * count;
  return Array.from({ length: count }, (_, index) => {
    if (((bitmap[index >> 3] ?? 0) & (1 << (index & 7))) !== 0) return null;
    const type = payload.readUInt8(types + 2 * index);
    const fixed = FIXED_SIZES.get(type);
    if (fixed !== undefined) {
      at += fixed;
      if (type === 5) return payload.readDoubleLE(at - fixed);
      return fixed === 1 ? payload.readInt8(at - fixed) : payload.readBigInt64LE(at - fixed);
    }
    const first = payload.readUInt8(at);
    const [length, start] = first < 251 ? [first, at + 1] : [payload.readUInt16LE(at + 1), at + 3];
    at = start + length;
    return payload.toString('utf8', start, at);
  });
}

/** A string or bytes as a cell. */
export function lengthCoded(bytes: Buffer): Buffer {
  const { length } = bytes;
  const head = length < 251 ? int(length, 1) : Buffer.concat([int(0xfd, 1), int(length, 3)]);
  return Buffer.concat([head, bytes]);
}

/** A little-endian number of `size` bytes. */
export function int(value: number, size: number): Buffer {
  const buffer = Buffer.alloc(size);
  buffer.writeUIntLE(value, 0, size);
  return buffer;
}
