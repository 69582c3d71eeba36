import { createContext, useContext, useMemo, useState } from 'react';

const NOTHING: ReadonlySet<number> = new Set();

interface Selection {
  readonly selected: ReadonlySet<number>;
  readonly select: (ids: readonly number[], isSelected: boolean) => void;
}

/** Null: nothing is selectable. Rows read it by themselves, so that selecting one draws only its box. */
export const SelectionContext = createContext<Selection | null>(null);

export const useSelectionContext = () => useContext(SelectionContext);

/** The selected rows of a list. @param list a different string is a different list, with nothing selected */
export function useSelected(list: string): Selection & { readonly clear: () => void } {
  const [selected, setSelected] = useState(NOTHING);
  const [shown, setShown] = useState(list);
  if (shown !== list) {
    setShown(list);
    setSelected(NOTHING);
  }
  return useMemo(
    () => ({
      selected,
      select: (ids, isSelected) =>
        setSelected((before) => {
          const changed = new Set(ids);
          return isSelected ? before.union(changed) : before.difference(changed);
        }),
      clear: () => setSelected(NOTHING),
    }),
    [selected],
  );
}
