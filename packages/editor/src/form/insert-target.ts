import { createContext, type RefObject, useContext, useEffect, useEffectEvent, useRef } from 'react';

/** A field that data can be inserted into. */
export interface InsertTarget {
  readonly element: HTMLElement;
  /** Inserts a path: in a template field at the cursor, in braces unless the cursor is within some, focusing it. */
  readonly insert: (path: string) => void;
}

/** The fields of a form that take data. */
export interface InsertTargets {
  add(target: InsertTarget): void;
  remove(target: InsertTarget): void;
  /** Remembers that it was focused. */
  use(target: InsertTarget): void;
  /** The field used last; else the first one that must be filled in, else the first one. Null: there is none. */
  current(): InsertTarget | null;
}

export const InsertTargetContext = createContext<InsertTargets | null>(null);

export function createInsertTargets(): InsertTargets {
  const all = new Set<InsertTarget>();
  let last: InsertTarget | null = null;
  return {
    add: (target) => all.add(target),
    remove(target) {
      all.delete(target);
      if (last === target) last = null;
    },
    use(target) {
      last = target;
    },
    current() {
      if (last !== null) return last;
      const inOrder = [...all].toSorted((a, b) =>
        a.element.compareDocumentPosition(b.element) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1,
      );
      return inOrder.find(({ element }) => element.closest('[data-to-fill]') !== null) ?? inOrder[0] ?? null;
    },
  };
}

/** Makes an element a target while it takes insertions. */
export function useInsertTarget(
  onInsert: ((path: string) => void) | undefined,
): RefObject<HTMLDivElement | null> {
  const targets = useContext(InsertTargetContext);
  const element = useRef<HTMLDivElement>(null);
  const insert = useEffectEvent((path: string) => onInsert?.(path));
  const isTarget = onInsert !== undefined;
  useEffect(() => {
    if (targets === null || !isTarget || element.current === null) return;
    const target: InsertTarget = { element: element.current, insert: (path) => insert(path) };
    targets.add(target);
    return () => targets.remove(target);
  }, [targets, isTarget]);
  return element;
}
