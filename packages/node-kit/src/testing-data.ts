import { type DataEntry, type DataService, type JsonValue, ServiceError } from '@millrace/engine';
import { verbatim } from '@millrace/messages';

/** A key-value table in memory for the tests of nodes; initially empty. */
export function memoryData(now: () => number): DataService {
  const entries = new Map<string, DataEntry>();
  const standing = (key: string): DataEntry | null => {
    const entry = entries.get(key);
    return entry === undefined || (entry.expiresAtMs ?? Number.POSITIVE_INFINITY) <= now() ? null : entry;
  };
  const put = (key: string, value: JsonValue, expiresAtMs: number | null): DataEntry => {
    const entry = { key, value, expiresAtMs };
    entries.set(key, entry);
    return entry;
  };
  const expiry = (ttlMs: number | null): number | null => (ttlMs === null ? null : now() + ttlMs);
  return {
    get: async (key) => standing(key),
    async set(key, value, { ttlMs, ifAbsent }) {
      const there = ifAbsent ? standing(key) : null;
      if (there !== null) return { entry: there, isWritten: false };
      return { entry: put(key, value, expiry(ttlMs)), isWritten: true };
    },
    async increment(key, by, { ttlMs }) {
      const there = standing(key);
      if (there === null) return put(key, by, expiry(ttlMs));
      if (typeof there.value !== 'number') {
        throw new ServiceError(
          'data_not_a_number',
          verbatim(`The entry ${JSON.stringify(key)} is not a number.`),
        );
      }
      return put(key, there.value + by, there.expiresAtMs);
    },
    async delete(key) {
      const wasThere = standing(key) !== null;
      entries.delete(key);
      return wasThere;
    },
    async list(prefix, limit) {
      const keys = [...entries.keys()].filter((key) => key.startsWith(prefix)).sort();
      return keys.flatMap((key) => standing(key) ?? []).slice(0, limit);
    },
  };
}
