import type { MemoryService, MemoryTurn } from '@millrace/engine';

/** What nodes remember in their tests; initially nothing. Unlike the real one, it remembers a turn each time. */
export function fakeMemory(
  known: { readonly [key: string]: readonly MemoryTurn[] } = {},
): MemoryService & { readonly summaries: ReadonlyMap<string, string> } {
  const memories = new Map(Object.entries(known));
  const summaries = new Map<string, string>();
  return {
    summaries,
    read: async (key) => ({ summary: summaries.get(key) ?? null, turns: memories.get(key) ?? [] }),
    async remember(key, turn, { summary }) {
      const turns = memories.get(key) ?? [];
      memories.set(key, [...turns.slice(summary?.of.length ?? 0), turn]);
      if (summary !== null) summaries.set(key, summary.text);
    },
  };
}
