import { RedisConnection } from '@millrace/database-clients/redis/connection';
import {
  RedisProtocolError,
  type RedisReply,
  RedisReplyError,
  type ReplyLimits,
} from '@millrace/database-clients/redis/reply';
import { cutOnAbort } from '@millrace/egress/cut-on-abort';
import { type GuardedSockets, serverOf } from '@millrace/egress/guarded-socket';
import { type CredentialOf, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { connectError } from '@millrace/ports/connect-error';

/** Largest reply: a batch of entries. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** Of one reply. Errors end the connection, which is opened again. */
const LIMITS: ReplyLimits = {
  ...{ bytes: MAX_REPLY_BYTES, bytesOf: 'reply', listItems: 100_000, depth: 8 },
  tooLarge: () =>
    new RedisProtocolError(`a reply of more than ${MAX_REPLY_BYTES} bytes, or with too many parts`),
};

/** A connection to a Redis server that sends one command after the other. */
export class RedisClient {
  readonly #connection: RedisConnection;
  readonly #where: string;

  private constructor(connection: RedisConnection, where: string) {
    this.#connection = connection;
    this.#where = where;
  }

  /**
   * Connects, signs in and selects the database.
   * @throws ServiceError redis_*
   */
  static async open(
    sockets: GuardedSockets,
    credential: CredentialOf<'redis'>,
    signal: AbortSignal,
  ): Promise<RedisClient> {
    const { username, password, database } = credential;
    const socket = await sockets.connect(serverOf(credential), signal).catch((error: unknown) => {
      throw connectError(error, 'redis_connection_failed');
    });
    const where = `${credential.host}:${credential.port}`;
    const client = new RedisClient(new RedisConnection(socket, LIMITS), where);
    const close = (): void => client.close();
    try {
      await cutOnAbort(signal, close, async () => {
        if (password !== null || username !== null) {
          const login = ['AUTH', ...(username === null ? [] : [username]), password ?? ''];
          const reply = await client.#send(login);
          // The server's words may repeat what it was sent.
          if (reply instanceof RedisReplyError) {
            throw new ServiceError('redis_auth_failed', message('ports.sign_in_refused', { host: where }));
          }
        }
        await client.call('SELECT', String(database));
      });
      return client;
    } catch (error) {
      close();
      throw error;
    }
  }

  /** @throws ServiceError redis_command_failed if the server refuses it, redis_connection_failed */
  async call(...parts: string[]): Promise<Exclude<RedisReply, RedisReplyError>> {
    const reply = await this.#send(parts);
    if (!(reply instanceof RedisReplyError)) return reply;
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
    this.#connection.end(new Error('the connection was closed'));
  }

  async #send(parts: readonly string[]): Promise<RedisReply> {
    return await this.#connection.call(parts).catch((cause: Error) => {
      const explanation = message('ports.connection_failed', { host: this.#where, reason: cause.message });
      throw new ServiceError('redis_connection_failed', explanation, { retryable: true, cause });
    });
  }
}
