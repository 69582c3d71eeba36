import { createServer, type Socket } from 'node:net';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';

/**
 * A PostgreSQL with pgvector in WebAssembly, as a process that speaks PostgreSQL's protocol on a port of 127.0.0.1, which it prints. It ends when
 * its standard input does. There is one session for all connections: a transaction keeps the others waiting.
 */
const SSL_REQUEST = 80_877_103;
const [SYNC, QUERY, TERMINATE, READY] = ['S', 'Q', 'X', 'Z'].map((letter) => letter.charCodeAt(0));

class Session {
  readonly #db: PGlite;
  #last: Promise<unknown> = Promise.resolve();

  constructor(db: PGlite) {
    this.#db = db;
  }

  /** Waits for the session. @returns how to give it back */
  async take(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = promise;
    await before;
    return resolve;
  }

  send(messages: Buffer): Promise<Uint8Array> {
    return this.#db.execProtocolRaw(new Uint8Array(messages));
  }

  async rollBack(): Promise<void> {
    await this.#db.exec('ROLLBACK');
  }
}

/** Whether a response ends with being ready in a transaction. */
function isInTransaction(response: Uint8Array): boolean {
  return response.at(-6) === READY && response.at(-1) !== 'I'.charCodeAt(0);
}

/** Takes requests from the beginning of what was received: up to a message that asks for an answer. */
function takeRequest(received: Buffer, hasStarted: boolean): Buffer | null {
  for (let at = 0; received.length - at >= (hasStarted ? 5 : 4); ) {
    const end = at + (hasStarted ? 1 + received.readInt32BE(at + 1) : received.readInt32BE(at));
    if (received.length < end) return null;
    const kind = received[at];
    if (!hasStarted || kind === SYNC || kind === QUERY || kind === TERMINATE)
      return received.subarray(0, end);
    at = end;
  }
  return null;
}

function serve(socket: Socket, session: Session): void {
  let received = Buffer.alloc(0);
  let hasStarted = false;
  let giveBack: (() => void) | null = null;
  let work: Promise<void> = Promise.resolve();

  async function answer(): Promise<void> {
    for (;;) {
      const request = takeRequest(received, hasStarted);
      if (request === null) return;
      received = received.subarray(request.length);
      if (!hasStarted && request.readInt32BE(4) === SSL_REQUEST) {
        socket.write('N');
        continue;
      }
      if (hasStarted && request[0] === TERMINATE) return;
      giveBack ??= await session.take();
      const response = await session.send(request);
      hasStarted = true;
      if (!isInTransaction(response)) {
        giveBack();
        giveBack = null;
      }
      socket.write(response);
    }
  }

  async function end(): Promise<void> {
    if (giveBack === null) return;
    await session.rollBack();
    giveBack();
  }

  socket.on('data', (data) => {
    received = Buffer.concat([received, data]);
    work = work.then(answer);
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    work = work.then(end);
  });
}

const session = new Session(await PGlite.create({ extensions: { vector } }));
const server = createServer((socket) => serve(socket, session));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
process.stdin.resume().on('end', () => process.exit(0));
