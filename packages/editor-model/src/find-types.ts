import { findRanked } from '@millrace/ui/search/find-ranked.ts';
import type { NodeType } from './editor-state.ts';

export interface FoundGroup {
  readonly group: string;
  readonly types: readonly NodeType[];
}

/** Node types that fit a search, best first, by group; all of them, in the catalogue's order, for an empty one. */
export function findTypes(
  types: readonly NodeType[],
  search: string,
  { putsTriggersLast = false } = {},
): readonly FoundGroup[] {
  const found = findRanked(types, search, (type) => type);
  if (!putsTriggersLast || search.trim() === '') return grouped(found);
  const isTrigger = ({ kind }: NodeType) => kind === 'trigger';
  return grouped([...found.filter((type) => !isTrigger(type)), ...found.filter(isTrigger)]);
}

function grouped(types: readonly NodeType[]): readonly FoundGroup[] {
  return [...Map.groupBy(types, ({ group }) => group)].map(([group, members]) => ({ group, types: members }));
}
