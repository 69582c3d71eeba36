import type { Database, Queryable } from '@millrace/database/database';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';

/** One use of an Idempotency-Key. */
export interface IdempotencyKey {
  readonly organisationId: number;
  readonly familyId: string;
  /** Method and actual path. */
  readonly route: string;
  readonly key: string;
  /** SHA-256 of the canonical JSON of the body. */
  readonly fingerprint: Buffer;
}

/** A successful response as stored and replayed. */
export interface StoredResponse {
  readonly status: number;
  readonly location: string | null;
  /** JSON text, byte for byte. */
  readonly body: string;
}

/** A stored response with the fingerprint of its request. */
export interface IdempotencyRecord extends StoredResponse {
  readonly fingerprint: Buffer;
}

/**
 * Whether the record is for the same request.
 * @throws ApiError `idempotency_key_reused` (409) if the first request had another body
 */
export function checkFingerprint(idempotencyKey: IdempotencyKey, record: IdempotencyRecord): StoredResponse {
  if (record.fingerprint.equals(idempotencyKey.fingerprint)) return record;
  throw new ApiError('idempotency_key_reused', message('service.idempotency_key_reused'));
}

/** The record of an earlier request in the last 24 hours by the database's clock, or undefined; found by its key alone, as `lookUpStarts` does. */
export async function findRecord(
  db: Queryable,
  idempotencyKey: IdempotencyKey,
): Promise<IdempotencyRecord | undefined> {
  const [record] = await db.query<IdempotencyRecord>(
    `SELECT status, location, body, fingerprint FROM (SELECT * FROM idempotency_records
       WHERE key_family_id = $1 AND route = $2 AND idempotency_key = $3 OFFSET 0) i
     WHERE organisation_id = $4 AND created_at > now() - interval '24 hours'`,
    [idempotencyKey.familyId, idempotencyKey.route, idempotencyKey.key, idempotencyKey.organisationId],
    'find_idempotency_record',
  );
  return record;
}

/**
 * Stores a response in the transaction it guards. Waits for the transaction of a concurrent request.
 * @returns false if the concurrent request came first: roll everything back and respond with its record
 */
export async function insertRecord(
  tx: Queryable,
  idempotencyKey: IdempotencyKey,
  response: StoredResponse,
): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO idempotency_records (organisation_id, key_family_id, route, idempotency_key, fingerprint, status, location, body)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (key_family_id, route, idempotency_key) DO UPDATE SET
       fingerprint = excluded.fingerprint, status = excluded.status, location = excluded.location,
       body = excluded.body, created_at = now()
     WHERE idempotency_records.created_at <= now() - interval '24 hours'
     RETURNING status`,
    [
      idempotencyKey.organisationId,
      idempotencyKey.familyId,
      idempotencyKey.route,
      idempotencyKey.key,
      idempotencyKey.fingerprint,
      response.status,
      response.location,
      response.body,
    ],
  );
  return rows.length === 1;
}

/** A response, and whether it is a replay. */
export interface IdempotentResponse {
  readonly response: StoredResponse;
  readonly replayed: boolean;
}

/** Runs work at most once per key. */
export type IdempotentRunner = (
  idempotencyKey: IdempotencyKey,
  work: (tx: Queryable) => Promise<StoredResponse>,
) => Promise<IdempotentResponse>;

/** Thrown to roll back the transaction of a request when a concurrent one has committed first. */
class ConcurrentRequestWon extends Error {}

/**
 * Creates a runner: `work` and the record of its response share one transaction; concurrent requests wait for the first and
 * get its response. Those in this process wait without a connection; those in other processes wait at the record's unique
 * index.
 */
export function createIdempotentRunner(db: Database): IdempotentRunner {
  const underWay = new Map<string, Promise<unknown>>();

  async function runAlone(
    idempotencyKey: IdempotencyKey,
    work: (tx: Queryable) => Promise<StoredResponse>,
  ): Promise<IdempotentResponse> {
    try {
      return await db.forOrganisation(idempotencyKey.organisationId, async (tx) => {
        const record = await findRecord(tx, idempotencyKey);
        if (record !== undefined)
          return { response: checkFingerprint(idempotencyKey, record), replayed: true };
        const response = await work(tx);
        if (!(await insertRecord(tx, idempotencyKey, response))) throw new ConcurrentRequestWon();
        return { response, replayed: false };
      });
    } catch (error) {
      if (!(error instanceof ConcurrentRequestWon)) throw error;
      const record = await findRecord(db, idempotencyKey);
      if (record === undefined)
        throw new Error('an idempotency record vanished right after it was seen', { cause: error });
      return { response: checkFingerprint(idempotencyKey, record), replayed: true };
    }
  }

  return async (idempotencyKey, work) => {
    const name = JSON.stringify([idempotencyKey.familyId, idempotencyKey.route, idempotencyKey.key]);
    const mine = (underWay.get(name) ?? Promise.resolve()).then(
      () => runAlone(idempotencyKey, work),
      () => runAlone(idempotencyKey, work),
    );
    underWay.set(name, mine);
    try {
      return await mine;
    } finally {
      if (underWay.get(name) === mine) underWay.delete(name);
    }
  };
}
