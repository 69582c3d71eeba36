import type { ExecutionItem } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { useEffect, useRef, useState } from 'react';
import { type ListQuery, readPage } from './use-executions.ts';

/** Maximum per run; for more, users repeat the action. */
export const MAX_MATCHING = 10_000;
const PAGE_SIZE = 200;

/** Progress of collecting all matches. */
export interface Gathering {
  readonly count: number;
  /** Everything since then was searched. */
  readonly lookedBackTo: string | null;
}

/** The matches, newest first. */
export interface Matching {
  readonly items: readonly ExecutionItem[];
  /** False: there are older matches too. */
  readonly isAll: boolean;
}

/** Collects all current executions that match a list's filters: their number is unknown until then. */
export function useMatching(query: ListQuery, onGathered: (matching: Matching) => void) {
  const org = useOrg();
  const [gathering, setGathering] = useState<Gathering | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const stop = useRef<AbortController | null>(null);
  const end = () => {
    stop.current?.abort();
    stop.current = null;
    setGathering(null);
  };
  useEffect(() => end, [org, query]);
  const gather = async () => {
    end();
    setError(null);
    const controller = new AbortController();
    stop.current = controller;
    const { signal } = controller;
    try {
      const matching = await readAll(org, query, signal, setGathering);
      if (!signal.aborted) onGathered(matching);
    } catch (cause) {
      if (!signal.aborted) setError(cause instanceof Error ? cause : new Error(String(cause)));
    } finally {
      if (stop.current === controller) end();
    }
  };
  return { gathering, error, gather: () => void gather(), stop: end };
}

async function readAll(
  org: number,
  query: ListQuery,
  signal: AbortSignal,
  onProgress: (gathering: Gathering) => void,
): Promise<Matching> {
  const items: ExecutionItem[] = [];
  let cursor: string | null = null;
  onProgress({ count: 0, lookedBackTo: null });
  do {
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(org, query, PAGE_SIZE, cursor, signal);
    items.push(...page.items);
    cursor = page.next_cursor;
    if (signal.aborted) break;
    onProgress({
      count: items.length,
      lookedBackTo: page.searched_back_to ?? items.at(-1)?.created_at ?? null,
    });
  } while (cursor !== null && items.length < MAX_MATCHING);
  return { items: items.slice(0, MAX_MATCHING), isAll: cursor === null && items.length <= MAX_MATCHING };
}
