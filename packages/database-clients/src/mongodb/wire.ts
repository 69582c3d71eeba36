import type { Socket } from 'node:net';
import { ByteQueue } from '@millrace/egress/byte-queue';
import { ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { type Document, deserialize, serialize } from 'bson';

/** Maximum bytes of what one node receives: anything larger wouldn't be a valid output either. */
export const MAX_BYTES = 16 * 1024 * 1024;
const HEADER_BYTES = 16;
const OP_MSG = 2013;
const CHECKSUM_PRESENT = 1;

/** What arrived isn't MongoDB. */
export class MongoProtocolError extends Error {}

interface Waiting {
  readonly id: number;
  readonly resolve: (document: Document) => void;
  readonly reject: (error: unknown) => void;
}

/** A cursor's id has 64 bits; documents stay bytes, to be read one by one. */
const READING = { promoteLongs: false, fieldsAsRaw: { firstBatch: true, nextBatch: true } };

/** One connection to MongoDB (OP_MSG): a command, then its answer. */
export class MongoConnection {
  readonly #socket: Socket;
  #waiting: Waiting | null = null;
  #ended: Error | null = null;
  readonly #received = new ByteQueue();
  #bytes = 0;
  #lastId = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => {
      try {
        this.#take(bytes);
      } catch (error) {
        this.end(error instanceof Error ? error : new Error('the answer could not be read'));
      }
    });
    socket.on('error', (error) => this.end(error));
    socket.on('close', () => this.end(new Error('the connection was closed')));
  }

  call(command: Document): Promise<Document> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== null) {
        reject(this.#ended);
        return;
      }
      this.#lastId += 1;
      this.#waiting = { id: this.#lastId, resolve, reject };
      this.#socket.write(frame(this.#lastId, command));
    });
  }

  /** Closes it; whatever waits fails with this error. */
  end(error: Error): void {
    this.#ended ??= error;
    this.#socket.destroy();
    this.#waiting?.reject(this.#ended);
    this.#waiting = null;
  }

  #take(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_BYTES) throw tooLarge();
    this.#received.push(bytes);
    while (this.#received.length >= HEADER_BYTES) {
      const length = this.#received.peek(HEADER_BYTES).readInt32LE(0);
      if (length < HEADER_BYTES + 5 || length > 4 * MAX_BYTES) {
        throw new MongoProtocolError('an answer has an impossible length');
      }
      if (length > MAX_BYTES) throw tooLarge();
      if (this.#received.length < length) return;
      this.#hear(this.#received.take(length));
    }
  }

  #hear(bytes: Buffer): void {
    if (bytes.readInt32LE(12) !== OP_MSG) throw new MongoProtocolError('an answer is not an OP_MSG');
    const end = bytes.length - (bytes.readUInt32LE(16) & CHECKSUM_PRESENT ? 4 : 0);
    if (bytes[20] !== 0) throw new MongoProtocolError('an answer begins with an unknown section');
    const waiting = this.#waiting;
    if (waiting === null || bytes.readInt32LE(8) !== waiting.id) {
      throw new MongoProtocolError('an answer belongs to no command');
    }
    this.#waiting = null;
    waiting.resolve(deserialize(bytes.subarray(21, end), READING));
  }
}

function frame(id: number, command: Document): Buffer {
  const body = serialize(command, { ignoreUndefined: true });
  const header = Buffer.alloc(HEADER_BYTES + 5);
  header.writeInt32LE(header.length + body.length, 0);
  header.writeInt32LE(id, 4);
  header.writeInt32LE(OP_MSG, 12);
  return Buffer.concat([header, body]);
}

export function tooLarge(): ServiceError {
  return new ServiceError('db_result_too_large', message('ports.db_too_large', { max: MAX_BYTES }));
}
