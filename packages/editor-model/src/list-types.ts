import { isWhole, type KnownType } from './editor-state.ts';
import { type FoundGroup, findTypes } from './find-types.ts';

/** Groups with a translated name, in display order; types of other groups follow under the group's own name. */
const GROUPS = [
  'recent',
  'trigger',
  'core',
  'wait',
  'webhook',
  'flow',
  'http',
  'data',
  'sql',
  'chat',
  'email',
  'ai',
] as const;

export function isNamedGroup(group: string): group is (typeof GROUPS)[number] {
  return (GROUPS as readonly string[]).includes(group);
}

/** Calls whatever has no node of its own. */
export const FALLBACK_TYPE = 'http.request';

interface Wanted {
  /** With an incoming edge, which triggers don't have. */
  readonly isJoined: boolean;
  readonly hasTrigger: boolean;
  /** Type of the trigger to be replaced, for which only other triggers are offered; null: none. */
  readonly former: string | null;
  readonly recent: readonly string[];
  /** More types are on their way, so whether none fits isn't known yet. */
  readonly areLoading: boolean;
}

/** Types to offer; if none fits the search, the one that can call anything. */
export function listTypes(
  nodeTypes: ReadonlyMap<string, KnownType>,
  search: string,
  { isJoined, hasTrigger, former, recent, areLoading }: Wanted,
): { readonly groups: readonly FoundGroup[]; readonly isFallback: boolean } {
  const isReplacing = former !== null;
  const all = [...nodeTypes.values()]
    .filter(isWhole)
    .filter(({ is_replaced: isReplaced }) => isReplaced !== true)
    .filter(({ kind, type }) =>
      isReplacing ? kind === 'trigger' && type !== former : kind !== 'trigger' || !isJoined,
    );
  // Who has a trigger rather looks for what comes after it.
  const groups = findTypes(all, search, { putsTriggersLast: hasTrigger });
  const other = nodeTypes.get(FALLBACK_TYPE);
  if (groups.length === 0 && isWhole(other) && !isReplacing && !areLoading)
    return { groups: [{ group: other.group, types: [other] }], isFallback: true };
  // While searching, the best match comes first whatever its group.
  if (search.trim() !== '') return { groups, isFallback: false };
  const rank = (group: string) => (GROUPS as readonly string[]).indexOf(group) >>> 0;
  const used = recent.flatMap((type) => all.find((each) => each.type === type) ?? []);
  const others = groups
    .map(({ group, types }) => ({ group, types: types.filter((type) => !used.includes(type)) }))
    .filter(({ types }) => types.length > 0)
    .toSorted((a, b) => rank(a.group) - rank(b.group));
  const isNew = used.length === 0;
  return { groups: isNew ? others : [{ group: 'recent', types: used }, ...others], isFallback: false };
}
