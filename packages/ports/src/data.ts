import { createHash } from 'node:crypto';
import type { Database, Queryable } from '@millrace/database/database';
import {
  checkJsonSize,
  type DataEntry,
  type DataService,
  type JsonValue,
  parseJson,
  ServiceError,
  stringifyJson,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { inGigabytes } from '@millrace/messages/gigabytes';
import type { Caller } from '@millrace/runtime/node-services';
import {
  addToEntry,
  claimWrite,
  type DataEntryRow,
  type DataUsageRow,
  type DataWriteRow,
  dropWrite,
  findEntry,
  findWrite,
  listEntries,
  putEntry,
  readDataUsage,
  removeEntry,
  removeExpiredOf,
  storeWrite,
} from './data-store.ts';

const MAX_KEY = 255;
const MAX_VALUE_BYTES = 1024 * 1024;
const MAX_ENTRIES = 100_000;
/** Days for which applied writes are remembered: longer than the attempts of a node can be apart. */
export const DATA_WRITE_DAYS = 30;

export interface DataServiceDeps {
  readonly db: Database;
  /** Maximum entries per organisation; 100,000 by default. */
  readonly maxEntries?: number;
  /** Maximum bytes of all keys and values of an organisation; 0: no limit. */
  readonly maxBytes: number;
}

/**
 * The key-value table of the caller's organisation. A write and a record of it are committed together, so that a rerun node
 * gets what its first run got, whatever others have written in between.
 */
export function createDataService(deps: DataServiceDeps): (caller: Caller) => DataService {
  const limits = { entries: deps.maxEntries ?? MAX_ENTRIES, bytes: deps.maxBytes };
  return (caller) => new OrganisationData(deps.db, limits, caller);
}

interface DataLimits {
  readonly entries: number;
  /** 0: no limit. */
  readonly bytes: number;
}

class OrganisationData implements DataService {
  readonly #db: Database;
  readonly #limits: DataLimits;
  readonly #caller: Caller;
  /** How many times this attempt has made each write: the same write twice is two writes. */
  readonly #made = new Map<string, number>();

  constructor(db: Database, limits: DataLimits, caller: Caller) {
    this.#db = db;
    this.#limits = limits;
    this.#caller = caller;
  }

  async get(key: string): Promise<DataEntry | null> {
    checkKey(key);
    const row = await this.#transaction((tx) => findEntry(tx, this.#organisationId, key));
    return row === undefined ? null : toEntry(row);
  }

  async set(
    key: string,
    value: JsonValue,
    options: { readonly ttlMs: number | null; readonly ifAbsent: boolean },
  ): Promise<{ readonly entry: DataEntry; readonly isWritten: boolean }> {
    checkKey(key);
    checkTtl(options.ttlMs);
    const text = valueText(value);
    const writeKey = this.#writeKey('set', key);
    return this.#transaction(async (tx) => {
      const applied = await this.#claim(tx, writeKey);
      if (applied !== null)
        return { entry: { key, value, expiresAtMs: applied.expires_at_ms }, isWritten: true };
      const before = await readDataUsage(tx, this.#organisationId);
      const row = await putEntry(tx, this.#organisationId, { key, value: text, ...options });
      if (row === undefined) {
        await dropWrite(tx, this.#organisationId, writeKey);
        const standing = await findEntry(tx, this.#organisationId, key);
        // It expired or was deleted just now.
        if (standing === undefined) throw busy(key);
        return { entry: toEntry(standing), isWritten: false };
      }
      await this.#keepLimits(tx, key, before);
      await storeWrite(tx, this.#organisationId, writeKey, writeOf(row, 'null'));
      return { entry: { key, value, expiresAtMs: row.expires_at?.getTime() ?? null }, isWritten: true };
    });
  }

  async increment(key: string, by: number, options: { readonly ttlMs: number | null }): Promise<DataEntry> {
    checkKey(key);
    checkTtl(options.ttlMs);
    if (!Number.isFinite(by) || Math.abs(by) > Number.MAX_SAFE_INTEGER) {
      throw new ServiceError('data_not_a_number', message('ports.data_increment'));
    }
    const writeKey = this.#writeKey('increment', key);
    return this.#transaction(async (tx) => {
      const applied = await this.#claim(tx, writeKey);
      if (applied !== null)
        return { key, value: parseJson(applied.value), expiresAtMs: applied.expires_at_ms };
      const before = await readDataUsage(tx, this.#organisationId);
      const row = await addToEntry(tx, this.#organisationId, key, String(by), options.ttlMs);
      if (row === undefined) {
        throw new ServiceError('data_not_a_number', message('ports.data_not_a_number', { key }));
      }
      await this.#keepLimits(tx, key, before);
      await storeWrite(tx, this.#organisationId, writeKey, writeOf(row, row.value));
      return toEntry(row);
    });
  }

  async delete(key: string): Promise<boolean> {
    checkKey(key);
    const writeKey = this.#writeKey('delete', key);
    return this.#transaction(async (tx) => {
      if ((await this.#claim(tx, writeKey)) !== null) return true;
      const wasThere = await removeEntry(tx, this.#organisationId, key);
      if (!wasThere) await dropWrite(tx, this.#organisationId, writeKey);
      return wasThere;
    });
  }

  async list(prefix: string, limit: number): Promise<readonly DataEntry[]> {
    if (prefix !== '') checkKey(prefix);
    const rows = await this.#transaction((tx) => listEntries(tx, this.#organisationId, prefix, limit));
    return rows.map(toEntry);
  }

  get #organisationId(): number {
    return this.#caller.organisationId;
  }

  #transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return this.#db.forOrganisation(this.#organisationId, work);
  }

  #writeKey(operation: string, key: string): Buffer {
    const name = JSON.stringify([operation, key]);
    const occurrence = this.#made.get(name) ?? 0;
    this.#made.set(name, occurrence + 1);
    const whole = JSON.stringify([this.#caller.idempotencyKey, operation, key, occurrence]);
    return createHash('sha256').update(whole).digest();
  }

  /** Null if this transaction is to make the write; otherwise the result of when it was made. */
  async #claim(tx: Queryable, writeKey: Buffer): Promise<DataWriteRow | null> {
    if (await claimWrite(tx, this.#organisationId, writeKey)) return null;
    const applied = await findWrite(tx, this.#organisationId, writeKey);
    if (applied === undefined) throw new Error('an applied write is gone although its key is taken');
    return applied;
  }

  /** After a write, because only then is it known whether the key was new, and what it added. */
  async #keepLimits(tx: Queryable, key: string, before: DataUsageRow): Promise<void> {
    if (this.#excess(await readDataUsage(tx, this.#organisationId), before) === null) return;
    await removeExpiredOf(tx, this.#organisationId, key);
    const excess = this.#excess(await readDataUsage(tx, this.#organisationId), before);
    if (excess !== null) throw excess;
  }

  /** What is above its limit, if anything. A write that takes no more room than before is fine even then. */
  #excess(now: DataUsageRow, before: DataUsageRow): ServiceError | null {
    const { entries } = this.#limits;
    const bytes = now.own_limit ?? this.#limits.bytes;
    if (now.entries > entries) {
      return new ServiceError('data_limit_reached', message('ports.data_limit', { max: entries }));
    }
    if (bytes === 0 || now.bytes <= bytes || now.bytes <= before.bytes) return null;
    return new ServiceError('data_storage_full', message('ports.data_full', { max: inGigabytes(bytes) }));
  }
}

function checkKey(key: string): void {
  const length = [...key].length;
  if (length >= 1 && length <= MAX_KEY && key.isWellFormed() && !key.includes('\0')) return;
  throw new ServiceError('data_invalid_key', message('ports.data_key', { max: MAX_KEY, length }));
}

const MAX_TTL_MS = 10 * 366 * 86_400_000;

function checkTtl(ttlMs: number | null): void {
  if (ttlMs === null || (Number.isSafeInteger(ttlMs) && ttlMs >= 1 && ttlMs <= MAX_TTL_MS)) return;
  throw new ServiceError('data_invalid_expiry', message('ports.data_expiry'));
}

function valueText(value: JsonValue): string {
  if (checkJsonSize(value, MAX_VALUE_BYTES) === 'fits') return stringifyJson(value);
  throw new ServiceError('data_value_too_large', message('ports.data_value', { max: MAX_VALUE_BYTES }));
}

function toEntry(row: DataEntryRow): DataEntry {
  return { key: row.key, value: parseJson(row.value), expiresAtMs: row.expires_at?.getTime() ?? null };
}

function writeOf(row: DataEntryRow, value: string): DataWriteRow {
  return { value, expires_at_ms: row.expires_at?.getTime() ?? null };
}

function busy(key: string): ServiceError {
  return new ServiceError('data_busy', message('ports.data_busy', { key }), {
    retryable: true,
  });
}
