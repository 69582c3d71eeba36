import type { ExecutionItem } from '@millrace/admin-api';
import { useCallback, useMemo, useState } from 'react';
import type { Matching } from './use-matching.ts';

const NONE: ReadonlySet<number> = new Set();
const NOTHING: Matching = { items: [], isAll: true };

/**
 * The selected executions: some of those shown, or all that match, shown or not.
 * @param filters a different string is a different list, with nothing selected
 */
export function useSelection(items: readonly ExecutionItem[], filters: string) {
  const [selected, setSelected] = useState(NONE);
  const [gathered, setGathered] = useState<Matching | null>(null);
  const [shown, setShown] = useState(filters);
  const clear = () => {
    setSelected(NONE);
    setGathered(null);
  };
  if (shown !== filters) {
    setShown(filters);
    clear();
  }
  const select = useCallback((ids: readonly number[], isSelected: boolean) => {
    setSelected((before) => {
      const next = new Set(before);
      for (const id of ids) {
        if (isSelected) next.add(id);
        else next.delete(id);
      }
      return next;
    });
  }, []);
  const take = (matching: Matching) => {
    setGathered(matching);
    select(
      matching.items.map(({ id }) => id),
      true,
    );
  };
  const chosen = useMemo(() => {
    // Those shown are up to date.
    const known = new Map([...(gathered ?? NOTHING).items, ...items].map((item) => [item.id, item]));
    return [...known.values()].filter(({ id }) => selected.has(id)).sort((a, b) => b.id - a.id);
  }, [gathered, items, selected]);
  return {
    selected,
    chosen,
    select,
    take,
    clear,
    isGathered: gathered !== null,
    isCut: gathered !== null && !gathered.isAll,
  };
}
