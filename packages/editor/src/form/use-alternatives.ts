import type { JsonValue } from '@millrace/engine';
import { useRef } from 'react';

type Value = JsonValue | undefined;

/** A value's earlier content in each form. */
interface Memory {
  /** The value last set here; any other was set elsewhere (undo, an example, another list item). */
  sent: Value;
  readonly values: Map<string, Value>;
}

export interface Alternatives {
  /** Sets a value in its current form. */
  readonly set: (next: Value) => void;
  /** Switches to another form: restores its last value there, else uses the initial one. */
  readonly switchTo: (from: string, to: string, initial: () => Value) => void;
  /** Switches to another form with this value. */
  readonly replace: (from: string, next: Value) => void;
}

/** Lets the user switch between forms of a value without losing earlier input. */
export function useAlternatives(value: Value, onChange: (value: Value) => void): Alternatives {
  const memory = useRef<Memory>({ sent: value, values: new Map() });
  const set = (next: Value) => {
    memory.current.sent = next;
    onChange(next);
  };
  const remember = (from: string): Memory['values'] => {
    const { sent, values } = memory.current;
    if (sent !== value) values.clear();
    return values.set(from, value);
  };
  return {
    set,
    switchTo(from, to, begin) {
      const values = remember(from);
      set(values.has(to) ? values.get(to) : begin());
    },
    replace(from, next) {
      remember(from);
      set(next);
    },
  };
}
