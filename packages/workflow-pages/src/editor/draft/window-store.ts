import { type JsonValue, parseJson, stringifyJson } from '@millrace/engine';

/** Each window has its own entry, so that two windows of one user don't overwrite each other's. */
const WINDOW = crypto.getRandomValues(new Uint32Array(2)).join('-');

/** Data in this browser that the service hasn't confirmed. */
export interface WindowStore<Value> {
  /** Replaces this window's entry; false if there is no room. */
  put(value: JsonValue): boolean;
  /** Removes this window's entry once the service has everything. */
  readonly drop: () => void;
  /** The entries of all windows, each removed from the browser as it is read; unreadable ones are skipped. */
  take(): Generator<Value>;
}

/** @param read returns null or throws if the entry is invalid */
export function windowStore<Value>(
  name: 'unkept' | 'unkept-pins',
  userId: number,
  workflowId: number,
  read: (value: JsonValue) => Value | null,
): WindowStore<Value> {
  const prefix = `millrace.${name}.${userId}.${workflowId}.`;
  const readText = (text: string): Value | null => {
    try {
      return read(parseJson(text));
    } catch {
      return null;
    }
  };
  return {
    put(value) {
      try {
        localStorage.setItem(prefix + WINDOW, stringifyJson(value));
        return true;
      } catch {
        return false;
      }
    },
    drop() {
      localStorage.removeItem(prefix + WINDOW);
    },
    *take() {
      for (const key of Object.keys(localStorage).filter((each) => each.startsWith(prefix))) {
        const value = readText(localStorage.getItem(key) ?? '');
        localStorage.removeItem(key);
        if (value !== null) yield value;
      }
    },
  };
}
