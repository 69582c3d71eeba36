import { findRanked } from '@millrace/ui/search/find-ranked.ts';
import type { NodeType } from './editor-state.ts';

export interface FoundGroup {
  readonly group: string;
  readonly types: readonly NodeType[];
}

/** Node types that fit a search, best first, by group; all of them, in the catalogue's order, for an empty one. */
export function findTypes(types: readonly NodeType[], search: string): readonly FoundGroup[] {
  return grouped(findRanked(types, search, (type) => type));
}

function grouped(types: readonly NodeType[]): readonly FoundGroup[] {
  return [...Map.groupBy(types, ({ group }) => group)].map(([group, members]) => ({ group, types: members }));
}
