import type { JsonValue } from '@millrace/engine';
import { useRef } from 'react';

type Value = JsonValue | undefined;

/** What a value was in the forms that it had before. */
interface Memory {
  /** What was last put in from here; another value is somebody else's (undo, an example, another item of a list). */
  sent: Value;
  readonly values: Map<string, Value>;
}

export interface Alternatives {
  /** Puts another value in, in the form that it has. */
  readonly set: (next: Value) => void;
  /** Gives it another form: what it was there when it last had that form, else what it begins with. */
  readonly switchTo: (from: string, to: string, initial: () => Value) => void;
}

/** Lets one look at another form of a value and come back without losing what was there. */
export function useAlternatives(value: Value, onChange: (value: Value) => void): Alternatives {
  const memory = useRef<Memory>({ sent: value, values: new Map() });
  const set = (next: Value) => {
    memory.current.sent = next;
    onChange(next);
  };
  return {
    set,
    switchTo(from, to, begin) {
      const { sent, values } = memory.current;
      if (sent !== value) values.clear();
      values.set(from, value);
      set(values.has(to) ? values.get(to) : begin());
    },
  };
}
