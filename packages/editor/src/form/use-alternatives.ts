import type { JsonValue } from '@millrace/engine';
import { useRef } from 'react';

type Value = JsonValue | undefined;

/** A value's earlier content in each form. */
interface Memory {
  /** The value last set here; any other was set elsewhere (undo, an example, another list item). */
  sent: Value;
  readonly values: Map<string, Value>;
}

/** Lets the user switch between forms of a value without losing earlier input. */
export function useAlternatives(value: Value, onChange: (value: Value) => void) {
  const memory = useRef<Memory>({ sent: value, values: new Map() });
  /** Sets a value in its current form. */
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
    /** Switches to another form: restores its last value there, else uses the initial one. */
    switchTo: (from: string, to: string, initial: () => Value) => {
      const values = remember(from);
      set(values.has(to) ? values.get(to) : initial());
    },
    /** Switches to another form with this value. */
    replace: (from: string, next: Value) => {
      remember(from);
      set(next);
    },
  };
}
