import type { ExecutionItem } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { useEffect, useRef, useState } from 'react';
import { type ListQuery, readPage } from './use-executions.ts';

/** So many are gathered at most; whoever wants more does it again. */
export const MAX_MATCHING = 10_000;
const PAGE_SIZE = 200;

/** How far the gathering of all that match has come. */
export interface Gathering {
  readonly count: number;
  /** Everything since then was looked through. */
  readonly lookedBackTo: string | null;
}

/** What was gathered, newest first. */
export interface Matching {
  readonly items: readonly ExecutionItem[];
  /** False: there are older ones that match, too. */
  readonly isAll: boolean;
}

/**
 * Gathers all executions that a list's filters ask for, as they are now: nobody can say how many there are before they
 * were looked for.
 */
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
