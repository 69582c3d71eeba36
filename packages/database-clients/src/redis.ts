import { type GuardedSockets, serverOf } from '@millrace/egress/guarded-socket';
import {
  type CredentialOf,
  isJsonArray,
  type JsonValue,
  type RedisOrder,
  type RedisService,
  ServiceError,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { broken, notConnected } from './broken.ts';
import { RedisConnection } from './redis/connection.ts';
import { refusal } from './redis/errors.ts';
import { RedisReplyError } from './redis/reply.ts';
import { jsonOf, ORDER_LIMITS } from './redis/values.ts';
import { createSessions, type SessionCaller, type SessionDeps } from './sessions.ts';

type Credential = CredentialOf<'redis'>;

/** Keys that the server looks at in one step of a search. */
const SCAN_COUNT = '1000';

/**
 * Sends commands to Redis over guarded sockets. Each order has its own connection, closed afterwards, so that nothing (a chosen database, a
 * transaction) carries over to another workflow's.
 */
export function createRedisService(deps: SessionDeps): (caller: SessionCaller) => RedisService {
  const inSession = createSessions(deps);
  return (caller) => ({
    run: (credential, order, signal) => {
      const { host, port, username, password } = credential;
      const target = { place: [host, port, username], password };
      return inSession(caller, target, signal, (sockets) => run(sockets, credential, order, signal));
    },
  });
}

async function run(
  sockets: GuardedSockets,
  credential: Credential,
  order: RedisOrder,
  signal: AbortSignal,
): Promise<readonly JsonValue[]> {
  const limit = AbortSignal.timeout(order.timeoutMs);
  const until = AbortSignal.any([signal, limit]);
  let isSent = false;
  let connection: RedisConnection | undefined;
  const stop = (): void => connection?.end(new Error('stopped'));
  try {
    const socket = await sockets.connect(serverOf(credential), until).catch((error: unknown) => {
      throw signal.aborted || !limit.aborted ? notConnected(error, credential) : error;
    });
    connection = new RedisConnection(socket, ORDER_LIMITS);
    until.addEventListener('abort', stop, { once: true });
    if (until.aborted) throw new Error('stopped');
    await signIn(connection, credential);
    isSent = true;
    return order.scan === undefined
      ? await callAll(connection, order.commands, credential)
      : [await scan(connection, order.scan, credential)];
  } catch (error) {
    const stopReason = signal.aborted ? 'aborted' : limit.aborted ? 'timeout' : null;
    const { isReadOnly, timeoutMs } = order;
    throw broken(error, { credential, isReadOnly, isSent, stopReason, timeoutMs });
  } finally {
    until.removeEventListener('abort', stop);
    connection?.end(new Error('done'));
  }
}

async function signIn(connection: RedisConnection, credential: Credential): Promise<void> {
  const { username, password, database } = credential;
  if (password !== null) {
    // Servers before version 6 know no users and take the password alone.
    await call(connection, username === null ? ['AUTH', password] : ['AUTH', username, password], credential);
  }
  if (database !== 0) await call(connection, ['SELECT', String(database)], credential);
  // Without a password a server that wants one says so here, before anything is sent.
  await call(connection, ['PING'], credential);
}

async function call(
  connection: RedisConnection,
  args: readonly string[],
  { host, port }: Credential,
): Promise<JsonValue> {
  const reply = await connection.call(args);
  if (reply instanceof RedisReplyError) throw refusal(reply, `${host}:${port}`);
  return jsonOf(reply);
}

async function callAll(
  connection: RedisConnection,
  commands: readonly (readonly string[])[],
  credential: Credential,
): Promise<readonly JsonValue[]> {
  const replies: JsonValue[] = [];
  for (const args of commands) replies.push(await call(connection, args, credential));
  return replies;
}

/** Names of keys, each once, and whether these are all. SCAN blocks the server for a step only, KEYS would for all of them. */
async function scan(
  connection: RedisConnection,
  { match, limit }: NonNullable<RedisOrder['scan']>,
  credential: Credential,
): Promise<JsonValue> {
  const keys = new Set<string>();
  let cursor = '0';
  do {
    const reply = await call(connection, ['SCAN', cursor, 'MATCH', match, 'COUNT', SCAN_COUNT], credential);
    const [next, found] = isJsonArray(reply) ? reply : [];
    if (typeof next !== 'string' || found === undefined || !isJsonArray(found)) {
      throw new ServiceError('db_error', message('ports.redis_error', { said: 'SCAN' }));
    }
    cursor = next;
    for (const key of found) {
      keys.add(typeof key === 'string' ? key : JSON.stringify(key));
      if (keys.size > limit) return { keys: [...keys].slice(0, limit), is_truncated: true };
    }
  } while (cursor !== '0');
  return { keys: [...keys], is_truncated: false };
}
