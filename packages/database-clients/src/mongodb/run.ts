import { setImmediate as nextTurn } from 'node:timers/promises';
import { type GuardedSockets, serverOf } from '@millrace/egress/guarded-socket';
import { ScramError } from '@millrace/egress/scram';
import {
  type CredentialOf,
  type JsonObject,
  type JsonValue,
  type MongoOrder,
  ServiceError,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { type Document, deserialize, type Long, ObjectId } from 'bson';
import { broken, notConnected } from '../broken.ts';
import { callOk, checkWrite, MongoRefusal } from './answers.ts';
import { greet, signIn } from './sign-in.ts';
import { toBson, toJson } from './values.ts';
import { MongoConnection } from './wire.ts';

type Credential = CredentialOf<'sql'>;

/** Documents that the server sends at once. */
const BATCH = 200;
/** The process does something else after so many documents. */
const IN_A_TURN = 20;
const EXACT = { promoteLongs: false, promoteValues: false, promoteBuffers: false };

/**
 * Carries out an order over a connection of its own.
 * @throws ServiceError db_*
 */
export async function runOrder(
  sockets: GuardedSockets,
  credential: Credential,
  order: MongoOrder,
  signal: AbortSignal,
): Promise<JsonObject> {
  const limit = AbortSignal.timeout(order.timeoutMs);
  const until = AbortSignal.any([signal, limit]);
  const where = `${credential.host}:${credential.port}`;
  let isSent = false;
  let connection: MongoConnection | undefined;
  const stop = (): void => connection?.end(new Error('stopped'));
  until.addEventListener('abort', stop, { once: true });
  const open = async ({ host, port }: Pick<Credential, 'host' | 'port'>): Promise<MongoConnection> => {
    connection?.end(new Error('done'));
    const target = serverOf({ ...credential, host, port });
    const socket = await sockets.connect(target, until).catch((error: unknown) => {
      throw signal.aborted || !limit.aborted ? notConnected(error, { ...credential, host, port }) : error;
    });
    connection = new MongoConnection(socket);
    if (until.aborted) stop();
    return connection;
  };
  try {
    const signedIn = await openPrimary(open, credential);
    isSent = true;
    return await perform(signedIn, order, credential.database);
  } catch (error) {
    if (error instanceof MongoRefusal) throw error.explained(where, order.timeoutMs);
    if (error instanceof ScramError) {
      const said = message('ports.mongodb_auth', { host: where, said: error.message });
      throw new ServiceError('db_auth_failed', said, { cause: error });
    }
    const stopReason = signal.aborted ? 'aborted' : limit.aborted ? 'timeout' : null;
    const { readOnly: isReadOnly, timeoutMs } = order;
    throw broken(error, { credential, isReadOnly, isSent, stopReason, timeoutMs });
  } finally {
    until.removeEventListener('abort', stop);
    connection?.end(new Error('done'));
  }
}

async function openPrimary(
  open: (target: Pick<Credential, 'host' | 'port'>) => Promise<MongoConnection>,
  credential: Credential,
): Promise<MongoConnection> {
  let connection = await open(credential);
  let hello = await greet(connection, credential);
  if (!hello.isPrimary && hello.primary !== null) {
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(hello.primary) ?? [];
    connection = await open({ host, port: Number(port) });
    hello = await greet(connection, credential);
  }
  await signIn(connection, hello.mechanism, credential);
  return connection;
}

async function perform(connection: MongoConnection, order: MongoOrder, $db: string): Promise<JsonObject> {
  const { collection, command, timeoutMs } = order;
  const call = (sent: Document): Promise<Document> => callOk(connection, { ...sent, $db });
  const write = async (sent: Document): Promise<Document> => {
    const answer = await connection.call({ ...sent, $db });
    checkWrite(answer);
    return answer;
  };
  switch (command.kind) {
    case 'find': {
      const { filter, projection, sort, skip, limit } = command;
      const wanted = {
        filter: toBson(filter),
        projection: toBson(projection),
        sort: toBson(sort),
        skip,
        limit: limit + 1,
      };
      const first = {
        find: collection,
        ...wanted,
        batchSize: Math.min(limit + 1, BATCH),
        maxTimeMS: timeoutMs,
      };
      return await documentsOf(call, await call(first), collection, limit);
    }
    case 'aggregate': {
      const { limit } = command;
      const pipeline = toBson(command.pipeline) as unknown[];
      const first = { aggregate: collection, pipeline, cursor: { batchSize: BATCH }, maxTimeMS: timeoutMs };
      return await documentsOf(call, await call(first), collection, limit);
    }
    case 'count': {
      const pipeline = [{ $match: toBson(command.filter) }, { $count: 'n' }];
      const answer = await call({ aggregate: collection, pipeline, cursor: {}, maxTimeMS: timeoutMs });
      const { documents } = await documentsOf(call, answer, collection, 1);
      const [found] = documents as readonly JsonObject[];
      return { count: found?.n ?? 0 };
    }
    case 'insert': {
      const documents = command.documents.map((each) => withId(toBson(each) as Document));
      const answer = await write({ insert: collection, documents, ordered: true });
      return { inserted: Number(answer.n), ids: documents.map(({ _id }) => toJson(_id)) };
    }
    case 'update': {
      const { filter, update, isMany, isUpsert } = command;
      const updates = [{ q: toBson(filter), u: toBson(update), multi: isMany, upsert: isUpsert }];
      const answer = await write({ update: collection, updates });
      const [upserted] = (answer.upserted ?? []) as Document[];
      const matched = Number(answer.n) - (upserted === undefined ? 0 : 1);
      return {
        matched,
        modified: Number(answer.nModified),
        upserted_id: upserted === undefined ? null : toJson(upserted._id),
      };
    }
    case 'delete': {
      const deletes = [{ q: toBson(command.filter), limit: command.isMany ? 0 : 1 }];
      return { deleted: Number((await write({ delete: collection, deletes })).n) };
    }
  }
}

/** The documents of a cursor, up to a limit. What is left on the server is given up. */
async function documentsOf(
  call: (command: Document) => Promise<Document>,
  first: Document,
  collection: string,
  limit: number,
): Promise<JsonObject> {
  const documents: JsonValue[] = [];
  let isTruncated = false;
  let cursor = first.cursor as Document;
  for (;;) {
    const batch = (cursor.firstBatch ?? cursor.nextBatch ?? []) as Uint8Array[];
    for (const [index, bytes] of batch.entries()) {
      isTruncated = documents.length === limit;
      if (isTruncated) break;
      documents.push(toJson(deserialize(bytes, EXACT)));
      if (index % IN_A_TURN === IN_A_TURN - 1) await nextTurn();
    }
    const id = cursor.id as Long;
    if (id.isZero()) return { documents, is_truncated: isTruncated };
    if (isTruncated) {
      await call({ killCursors: collection, cursors: [id] });
      return { documents, is_truncated: true };
    }
    cursor = (await call({ getMore: id, collection, batchSize: BATCH })).cursor as Document;
  }
}

/** The id is made here, so that it is known. */
function withId(document: Document): Document {
  return document._id === undefined ? { _id: new ObjectId(), ...document } : document;
}
