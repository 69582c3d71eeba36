import type { MessagePort } from 'node:worker_threads';
import type { FileValue } from '@millrace/engine';
import type { ContentInput, ContentJob, HostCall, HostReply, HostRequest } from './protocol.ts';

/** Bytes asked for at a time. */
const PIECE_BYTES = 1024 * 1024;
/** Bytes of a new file that are collected before they are sent. */
const SENT_BYTES = 256 * 1024;

/** The host couldn't do what it was asked for, and knows why. */
export class UnservedError extends Error {
  override readonly name = 'UnservedError';
}

/** The files that work reads and makes. */
export interface Host {
  readonly inputs: readonly ContentInput[];
  /**
   * Bytes of an input, from `start` up to and without `end`.
   * @throws UnservedError
   */
  read(input: number, start?: number, end?: number): AsyncGenerator<Uint8Array>;
  /** @throws UnservedError; what the content throws */
  save(
    file: { readonly name: string; readonly type: string },
    content: AsyncIterable<Uint8Array>,
  ): Promise<FileValue>;
}

/** In a thread, which asks the main thread for all of it. */
export class ThreadHost implements Host {
  readonly inputs: readonly ContentInput[];
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, (reply: HostReply) => void>();
  #lastId = 0;

  constructor({ inputs, port }: Pick<ContentJob, 'inputs' | 'port'>) {
    this.inputs = inputs;
    this.#port = port;
    port.on('message', (reply: HostReply) => {
      this.#waiting.get(reply.id)?.(reply);
      this.#waiting.delete(reply.id);
    });
  }

  async *read(input: number, start = 0, end = this.inputs[input]?.size ?? 0): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end; at += PIECE_BYTES) {
      const part = { kind: 'read', input, start: at, end: Math.min(at + PIECE_BYTES, end) } as const;
      yield (await this.#call(part)) as Uint8Array;
    }
  }

  async save(
    file: { readonly name: string; readonly type: string },
    content: AsyncIterable<Uint8Array>,
  ): Promise<FileValue> {
    await this.#call({ kind: 'open', name: file.name, type: file.type });
    for await (const bytes of inLargerPieces(content)) await this.#call({ kind: 'write', bytes });
    return (await this.#call({ kind: 'close' })) as FileValue;
  }

  close(): void {
    this.#port.close();
  }

  async #call(call: HostCall): Promise<HostReply['value']> {
    this.#lastId += 1;
    const request: HostRequest = { id: this.#lastId, call };
    const { value } = await new Promise<HostReply>((resolve) => {
      this.#waiting.set(request.id, resolve);
      this.#port.postMessage(request);
    });
    if (value === undefined) throw new UnservedError();
    return value;
  }
}

async function* inLargerPieces(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of content) {
    pieces.push(piece);
    length += piece.byteLength;
    if (length < SENT_BYTES) continue;
    yield joined(pieces, length);
    pieces = [];
    length = 0;
  }
  if (length > 0) yield joined(pieces, length);
}

/** Apart from any pool of buffers, which would be sent as a whole. */
export function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}
