import { beforeEach, vi } from 'vitest';

/** Gives each test an empty `localStorage`. @returns an object that limits the characters per entry */
export function useTestStorage(): { room: number } {
  const limit = { room: Number.POSITIVE_INFINITY };
  beforeEach(() => {
    limit.room = Number.POSITIVE_INFINITY;
    class Storage {
      [key: string]: unknown;
      getItem(key: string) {
        return this[key] ?? null;
      }
      setItem(key: string, text: string) {
        if (text.length > limit.room) throw new Error('QuotaExceededError');
        this[key] = text;
      }
      removeItem(key: string) {
        delete this[key];
      }
    }
    vi.stubGlobal('localStorage', new Storage());
  });
  return limit;
}
