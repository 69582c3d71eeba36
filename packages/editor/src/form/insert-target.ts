import { createContext, type RefObject, useContext, useEffect, useEffectEvent, useRef } from 'react';

/** A field that data can be inserted into. */
export interface InsertTarget {
  readonly element: HTMLElement;
  /** Takes only what is meant for it: after it was focused, or dropped on it. */
  readonly isPassive?: boolean;
  /** Inserts a path: in a template field at the cursor, in braces unless the cursor is within some, focusing it. */
  readonly insert: (path: string) => void;
}

export type InsertTargets = ReturnType<typeof createInsertTargets>;

/** The fields of a form that take data. */
export function createInsertTargets() {
  const all = new Set<InsertTarget>();
  let last: InsertTarget | null = null;
  return {
    add(target: InsertTarget): void {
      all.add(target);
    },
    remove(target: InsertTarget): void {
      all.delete(target);
      if (last === target) last = null;
    },
    /** Remembers that it was focused. */
    use(target: InsertTarget): void {
      last = target;
    },
    /** The field used last; else the first one that must be filled in, else the first one. Null: there is none. */
    current(): InsertTarget | null {
      if (last !== null) return last;
      const inOrder = [...all]
        .filter(({ isPassive }) => isPassive !== true)
        .toSorted((a, b) =>
          a.element.compareDocumentPosition(b.element) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1,
        );
      return inOrder.find(({ element }) => element.closest('[data-to-fill]') !== null) ?? inOrder[0] ?? null;
    },
  };
}

export const InsertTargetContext = createContext<InsertTargets | null>(null);

/** Marks the elements of targets, which may be nested: the innermost one takes what is inserted. */
export const TAKES_DATA = 'data-takes-data';

/** Makes an element a target while it takes insertions. */
export function useInsertTarget(
  onInsert: ((path: string) => void) | undefined,
  isPassive: boolean,
): RefObject<HTMLDivElement | null> {
  const targets = useContext(InsertTargetContext);
  const element = useRef<HTMLDivElement>(null);
  const insert = useEffectEvent((path: string) => onInsert?.(path));
  const isTarget = onInsert !== undefined;
  useEffect(() => {
    const frame = element.current;
    if (targets === null || !isTarget || frame === null) return;
    const target: InsertTarget = { element: frame, isPassive, insert: (path) => insert(path) };
    const noteFocus = ({ target: focused }: FocusEvent) => {
      if (focused instanceof Element && focused.closest(`[${TAKES_DATA}]`) === frame) targets.use(target);
    };
    targets.add(target);
    frame.addEventListener('focusin', noteFocus);
    return () => {
      targets.remove(target);
      frame.removeEventListener('focusin', noteFocus);
    };
  }, [targets, isTarget, isPassive]);
  return element;
}

const PATH_TYPE = 'application/x-millrace-path';

/** Takes a path along with the pointer: as a template for any text field, alone for a form's. */
export function dragPath(data: DataTransfer, path: string): void {
  data.setData('text/plain', `{{${path}}}`);
  data.setData(PATH_TYPE, path);
  data.effectAllowed = 'copy';
}

/** Whether what is dragged is a path; which one is told when it is dropped. */
export function isPath(data: DataTransfer | null): boolean {
  return data?.types.includes(PATH_TYPE) === true;
}

/** The path that was dropped; null if it is something else. */
export function droppedPath(data: DataTransfer | null): string | null {
  return isPath(data) ? (data?.getData(PATH_TYPE) ?? null) : null;
}
