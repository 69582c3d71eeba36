import type { Socket } from 'node:net';
import type { GuardedSockets } from '@millrace/egress/guarded-socket';
import { type CredentialOf, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { connectError } from '@millrace/ports/connect-error';
import { encodeCommand, type Reply, ReplyError, ReplyReader } from './resp.ts';

/** Largest reply: a batch of entries. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** A connection to a Redis server that sends one command after the other. */
export class RedisClient {
  readonly #socket: Socket;
  readonly #where: string;
  readonly #waiting: PromiseWithResolvers<Reply>[] = [];
  #ended: Error | null = null;

  private constructor(socket: Socket, where: string) {
    this.#socket = socket;
    this.#where = where;
    const reader = new ReplyReader(MAX_REPLY_BYTES);
    socket.on('data', (piece: Buffer) => {
      try {
        for (const reply of reader.push(piece)) this.#waiting.shift()?.resolve(reply);
      } catch (error) {
        this.#end(error instanceof Error ? error : new Error(String(error)));
      }
    });
    socket.on('error', (error) => this.#end(error));
    socket.on('close', () => this.#end(new Error('the server closed the connection')));
  }

  /**
   * Connects, signs in and selects the database.
   * @throws ServiceError redis_*
   */
  static async open(
    sockets: GuardedSockets,
    { host, port, tls, username, password, database }: CredentialOf<'redis'>,
    signal: AbortSignal,
  ): Promise<RedisClient> {
    const target = { host, port, ...(tls === 'off' ? {} : { tls: { isVerified: tls === 'verify' } }) };
    const socket = await sockets.connect(target, signal).catch((error: unknown) => {
      throw connectError(error, 'redis_connection_failed');
    });
    const where = `${host}:${port}`;
    const client = new RedisClient(socket, where);
    const onAbort = (): void => client.close();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (password !== null || username !== null) {
        const login = ['AUTH', ...(username === null ? [] : [username]), password ?? ''];
        const reply = await client.#send(login);
        // The server's words may repeat what it was sent.
        if (reply instanceof ReplyError) {
          throw new ServiceError('redis_auth_failed', message('ports.sign_in_refused', { host: where }));
        }
      }
      await client.call('SELECT', String(database));
      return client;
    } catch (error) {
      client.close();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** @throws ServiceError redis_command_failed if the server refuses it, redis_connection_failed */
  async call(...parts: string[]): Promise<Exclude<Reply, ReplyError>> {
    const reply = await this.#send(parts);
    if (!(reply instanceof ReplyError)) return reply;
    const needsLogin = /^(NOAUTH|WRONGPASS)\b/.test(reply.message);
    throw needsLogin
      ? new ServiceError('redis_auth_failed', message('ports.sign_in_required', { host: this.#where }))
      : new ServiceError(
          'redis_command_failed',
          message('ports.redis_refused', {
            command: parts[0] ?? '',
            host: this.#where,
            reason: reply.message,
          }),
          { retryable: !/^(WRONGTYPE|NOPERM|ERR unknown)/.test(reply.message), cause: reply },
        );
  }

  close(): void {
    this.#socket.destroy();
  }

  async #send(parts: readonly string[]): Promise<Reply> {
    if (this.#ended !== null) throw this.#failure(this.#ended);
    const waiting = Promise.withResolvers<Reply>();
    this.#waiting.push(waiting);
    this.#socket.write(encodeCommand(parts));
    return await waiting.promise;
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.#socket.destroy();
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure(this.#ended));
  }

  #failure(cause: Error): ServiceError {
    const explanation = message('ports.connection_failed', { host: this.#where, reason: cause.message });
    return new ServiceError('redis_connection_failed', explanation, { retryable: true, cause });
  }
}
