import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Binary, type Document, deserialize, serialize } from 'bson';

/** What a fake server says to a command: a document, nothing, the end of the connection, or bytes. */
export type MongoSays = Document | 'silence' | 'cut' | Buffer;

export interface FakeMongo {
  readonly port: number;
  /** Commands after the sign-in, in order. */
  readonly commands: readonly Document[];
  close(): Promise<void>;
}

export interface FakeMongoOptions {
  readonly username: string;
  readonly password: string;
  /** The database of the account. Default: admin. */
  readonly accounts?: string;
  readonly mechanism?: 'SCRAM-SHA-256' | 'SCRAM-SHA-1';
  /** More of what it says of itself. */
  readonly hello?: () => Document;
  /** It claims to know the password. */
  readonly isImpostor?: boolean;
  says(command: Document): MongoSays;
}

const ITERATIONS = 4_096;
const DENIED = { ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.' };

/** A server that speaks MongoDB's wire protocol (OP_MSG, SCRAM) without a database. */
export async function startFakeMongo(options: FakeMongoOptions): Promise<FakeMongo> {
  const commands: Document[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    const session = new Session(options);
    let rest = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      while (rest.length >= 16 && rest.length >= rest.readInt32LE(0)) {
        const length = rest.readInt32LE(0);
        const id = rest.readInt32LE(4);
        const command = deserialize(rest.subarray(21, length), { promoteLongs: false });
        rest = rest.subarray(length);
        const said = session.answer(command) ?? options.says(command);
        if (session.isSignedIn && !('saslContinue' in command)) commands.push(command);
        if (said === 'cut') socket.destroy();
        else if (said !== 'silence')
          socket.write(Buffer.isBuffer(said) ? said : frame(id, { ok: 1, ...said }));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function frame(answered: number, document: Document): Buffer {
  const body = serialize(document);
  const header = Buffer.alloc(21);
  header.writeInt32LE(header.length + body.length, 0);
  header.writeInt32LE(1, 4);
  header.writeInt32LE(answered, 8);
  header.writeInt32LE(2013, 12);
  return Buffer.concat([header, body]);
}

/** The server's side of a sign-in (RFC 5802). */
class Session {
  readonly #options: FakeMongoOptions;
  readonly #salt = randomBytes(16);
  #said = '';
  #nonce = '';
  isSignedIn = false;

  constructor(options: FakeMongoOptions) {
    this.#options = options;
  }

  /** Null for what isn't part of it. */
  answer(command: Document): Document | null {
    const { accounts = 'admin', mechanism = 'SCRAM-SHA-256', hello } = this.#options;
    if ('hello' in command) {
      return {
        isWritablePrimary: true,
        saslSupportedMechs: [mechanism],
        maxWireVersion: 21,
        minWireVersion: 0,
        ...hello?.(),
      };
    }
    if ('saslStart' in command) {
      if (command.$db !== accounts || command.mechanism !== mechanism) return DENIED;
      return this.#first(text(command.payload));
    }
    if ('saslContinue' in command) return this.#second(text(command.payload));
    return this.isSignedIn ? null : { ok: 0, code: 13, errmsg: 'command requires authentication' };
  }

  #first(said: string): Document {
    const bare = said.replace(/^n,,/, '');
    if (!bare.startsWith(`n=${this.#options.username},`)) return DENIED;
    this.#nonce = `${/r=(.*)$/.exec(bare)?.[1] ?? ''}${randomBytes(9).toString('base64')}`;
    const answer = `r=${this.#nonce},s=${this.#salt.toString('base64')},i=${ITERATIONS}`;
    this.#said = `${bare},${answer},c=biws,r=${this.#nonce}`;
    return { conversationId: 1, done: false, payload: new Binary(Buffer.from(answer)) };
  }

  #second(said: string): Document {
    const { username, password, mechanism = 'SCRAM-SHA-256', isImpostor = false } = this.#options;
    const isOld = mechanism === 'SCRAM-SHA-1';
    const hash = isOld ? 'sha1' : 'sha256';
    const known = isOld ? createHash('md5').update(`${username}:mongo:${password}`).digest('hex') : password;
    const salted = pbkdf2Sync(known, this.#salt, ITERATIONS, isOld ? 20 : 32, hash);
    const hmac = (key: Buffer, content: string) => createHmac(hash, key).update(content).digest();
    const stored = createHash(hash).update(hmac(salted, 'Client Key')).digest();
    const proof = Buffer.from(/p=(.*)$/.exec(said)?.[1] ?? '', 'base64');
    const key = Buffer.from(proof.map((byte, index) => byte ^ (hmac(stored, this.#said)[index] ?? 0)));
    if (!isImpostor && !createHash(hash).update(key).digest().equals(stored)) return DENIED;
    this.isSignedIn = true;
    const signature = hmac(hmac(isImpostor ? randomBytes(32) : salted, 'Server Key'), this.#said);
    return {
      conversationId: 1,
      done: true,
      payload: new Binary(Buffer.from(`v=${signature.toString('base64')}`)),
    };
  }
}

function text(payload: Binary): string {
  return Buffer.from(payload.buffer).toString();
}
