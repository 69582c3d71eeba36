import type { Socket } from 'node:net';
import { type RedisReply, type ReplyLimits, ReplyReader } from './reply.ts';

/** One connection to Redis, which sends a command after the answer to the one before. */
export class RedisConnection {
  readonly #socket: Socket;
  readonly #waiting: { resolve: (reply: RedisReply) => void; reject: (error: unknown) => void }[] = [];
  #ended: Error | null = null;

  constructor(socket: Socket, limits: ReplyLimits) {
    this.#socket = socket;
    const reader = new ReplyReader(limits, (reply) => this.#waiting.shift()?.resolve(reply));
    socket.on('data', (bytes: Buffer) => {
      try {
        reader.take(bytes);
      } catch (error) {
        this.end(error instanceof Error ? error : new Error('the answer could not be read'));
      }
    });
    socket.on('error', (error) => this.end(error));
    socket.on('close', () => this.end(new Error('the connection was closed')));
  }

  call(args: readonly string[]): Promise<RedisReply> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== null) return reject(this.#ended);
      this.#waiting.push({ resolve, reject });
      this.#socket.write(encodeCommand(args));
    });
  }

  /** Closes it; whatever waits fails with this error. */
  end(error: Error): void {
    this.#ended ??= error;
    this.#socket.destroy();
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }
}

/** A command as an array of texts (RESP), whose lengths are sent before them: no value can become a command. */
export function encodeCommand(args: readonly string[]): string {
  const parts = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
  return `*${args.length}\r\n${parts.join('')}`;
}
