import { type RefObject, useEffect, useRef } from 'react';

const TEXTS = 'input:not([type="radio"], [type="checkbox"], [type="hidden"]), textarea, .cm-content';

/** Puts the cursor into what was just added to a list, to be written at once. */
export function useAddedFocus(count: number): {
  /** The element whose first children are the items. */
  readonly frame: RefObject<HTMLDivElement | null>;
  /** To be called when an item is added. */
  readonly noteAdded: () => void;
} {
  const frame = useRef<HTMLDivElement>(null);
  const isAdding = useRef(false);
  useEffect(() => {
    if (!isAdding.current) return;
    isAdding.current = false;
    const text = frame.current?.children[count - 1]?.querySelector<HTMLElement>(TEXTS);
    text?.focus();
    if (text instanceof HTMLInputElement) text.select();
  }, [count]);
  return {
    frame,
    noteAdded: () => {
      isAdding.current = true;
    },
  };
}
