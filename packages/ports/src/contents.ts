import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import {
  type ContentService,
  type FileValue,
  isJsonObject,
  type JsonObject,
  Meter,
  parseWork,
  ServiceError,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Caller } from '@millrace/runtime/node-services';
import { finishInTurns } from '@millrace/runtime/turns';
import { CodePool } from './code/pool.ts';
import { joined } from './contents/host.ts';
import type { HostCall, HostReply, HostRequest } from './contents/protocol.ts';

/** Threads of each process. Files take minutes, so they don't share those of code, and an organisation gets one at a time. */
const MAX_THREADS = 2;
const IDLE_MS = 30_000;
const MAX_PER_ORGANISATION = 1;
/** How far the threads stand back for the main thread: whoever waits for a file waits anyway. */
const NICENESS = 3;
/** Bytes of a new file that wait to be stored. */
const WAITING_BYTES = 1024 * 1024;

type Order = Parameters<ContentService['work']>[0];

/**
 * Works on files in threads with a heap of their own, which are killed at the time limit. The main thread only passes bytes on: as many as
 * the thread has asked for, and those of a new file once the store has taken what came before.
 * @param deps.maxOutputBytes maximum UTF-8 bytes of a result's JSON text
 */
export function createContentService(deps: { readonly maxOutputBytes: number }): {
  readonly service: (caller: Caller) => ContentService;
  close(): Promise<void>;
} {
  const pool = new CodePool(MAX_THREADS, IDLE_MS, NICENESS, MAX_PER_ORGANISATION);
  return {
    service: ({ organisationId }) => ({
      async work(order, signal) {
        const { port1: own, port2: port } = new MessageChannel();
        const serving = new Serving(order, own);
        const { task, timeoutMs } = order;
        const inputs = order.inputs.map(({ name, type, size }) => ({ name, type, size }));
        const job = { kind: 'contents', task, inputs, port, timeoutMs, ...deps } as const;
        try {
          const { outcome } = await pool.run(job, organisationId, signal);
          if (outcome.kind === 'value') return await parsed(outcome.text);
          if (outcome.kind === 'unserved') throw serving.failure;
          if (outcome.kind === 'failure') throw new ServiceError(outcome.code, outcome.message);
          throw new ServiceError('aborted', message('ports.conversion_stopped'), { retryable: true });
        } finally {
          await serving.end();
        }
      },
    }),
    close: () => pool.close(),
  };
}

async function parsed(text: string): Promise<JsonObject> {
  const value = await finishInTurns(parseWork(text, new Meter()));
  if (isJsonObject(value)) return value;
  throw new Error("the thread's result isn't an object");
}

/** What a thread asks for while it works. */
class Serving {
  /** Why a call couldn't be served. */
  failure: unknown;
  readonly #order: Order;
  readonly #port: MessagePort;
  #made: { readonly content: PassThrough; readonly saving: Promise<FileValue> } | null = null;

  constructor(order: Order, port: MessagePort) {
    this.#order = order;
    this.#port = port;
    port.on('message', (request: HostRequest) => void this.#reply(request));
  }

  /** Gives up the file that isn't complete. */
  async end(): Promise<void> {
    this.#port.close();
    const { content, saving } = this.#made ?? {};
    content?.destroy(new Error('the thread has ended'));
    await saving?.catch(() => {});
  }

  async #reply({ id, call }: HostRequest): Promise<void> {
    let value: HostReply['value'];
    try {
      value = await this.#serve(call);
    } catch (error) {
      this.failure ??= error;
    }
    const reply: HostReply = { id, value };
    this.#port.postMessage(reply);
  }

  async #serve(call: HostCall): Promise<Uint8Array | FileValue | null> {
    switch (call.kind) {
      case 'read':
        return this.#read(call.input, call.start, call.end);
      case 'open':
        return this.#open(call.name, call.type);
      case 'write':
        return this.#write(call.bytes);
      case 'close': {
        const { content, saving } = this.#present();
        content.end();
        const file = await saving;
        this.#made = null;
        return file;
      }
    }
  }

  async #read(input: number, start: number, end: number): Promise<Uint8Array> {
    const file = this.#order.inputs[input];
    if (file === undefined) throw new Error(`the thread asked for the file ${input}, which there isn't`);
    const pieces: Uint8Array[] = [];
    for await (const piece of file.read({ start, end: end - 1 })) pieces.push(piece);
    return joined(pieces, end - start);
  }

  #open(name: string, type: string): null {
    const content = new PassThrough({ highWaterMark: WAITING_BYTES });
    const saving = this.#order.save({ name, type }, content);
    // Whoever writes or ends it hears of its failure.
    saving.catch(() => content.destroy());
    content.on('error', () => {});
    this.#made = { content, saving };
    return null;
  }

  async #write(bytes: Uint8Array): Promise<null> {
    const { content, saving } = this.#present();
    if (content.destroyed) await saving;
    if (!content.write(bytes)) await Promise.race([once(content, 'drain'), saving]);
    return null;
  }

  #present(): { readonly content: PassThrough; readonly saving: Promise<FileValue> } {
    if (this.#made === null) throw new Error('the thread wrote without having opened a file');
    return this.#made;
  }
}
