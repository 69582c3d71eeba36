import type { Assignment } from './protocol/group.ts';

/** How partitions are spread; the name by which members of all libraries agree on it. */
export const ASSIGNOR = 'range';

/**
 * Gives each member consecutive partitions of each topic that it reads, the first ones one more if they can't be shared evenly.
 * @param counts partitions of each topic
 */
export function assignRanges(
  members: readonly { readonly memberId: string; readonly topics: readonly string[] }[],
  counts: ReadonlyMap<string, number>,
): ReadonlyMap<string, Assignment> {
  const assigned = new Map(members.map(({ memberId }) => [memberId, new Map<string, readonly number[]>()]));
  for (const [topic, count] of counts) {
    const readers = members
      .filter(({ topics }) => topics.includes(topic))
      .map(({ memberId }) => memberId)
      .toSorted();
    let next = 0;
    for (const [index, reader] of readers.entries()) {
      const share = Math.floor(count / readers.length) + (index < count % readers.length ? 1 : 0);
      const partitions = Array.from({ length: share }, (_, at) => next + at);
      next += share;
      if (share > 0) assigned.get(reader)?.set(topic, partitions);
    }
  }
  return assigned;
}
