import { type JsonValue, parseJson, stringifyJson } from '@millrace/engine';

/** Each window keeps its own entry, so that two of one person don't overwrite each other's. */
const WINDOW = crypto.getRandomValues(new Uint32Array(2)).join('-');

/** What the service has not confirmed yet, kept in this browser. */
export interface WindowStore<Value> {
  /** Replaces this window's entry; false when there is no room. */
  put(value: JsonValue): boolean;
  /** The service has all that this window could lose. */
  readonly drop: () => void;
  /** The entries of all windows, each removed from the browser when it is read; unreadable ones are left out. */
  take(): Generator<Value>;
}

/** @param read null, or any exception: the entry is not what it should be */
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
