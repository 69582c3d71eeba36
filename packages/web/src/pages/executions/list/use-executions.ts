import type { Answer, ExecutionItem } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { serviceNow } from '@millrace/ui/api/clock.ts';
import { useEvents } from '@millrace/ui/api/events.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { fits, type ListSearch, needsService, toQuery } from '../common/search.ts';
import { isUnderWay } from '../common/under-way.ts';

const PAGE_SIZE = 50;
/** As many as the service takes at once. */
const MAX_IDS = 200;
/** What was missed is read again no more often, however much is going on. */
const PAUSE_MS = 1_000;
/** So long the pages wait for somebody who comes back to them. */
const KEPT_MS = 1_800_000;
/** More new ones are not counted. */
export const MAX_FRESH = 1_000;
const LIST = 'GET /orgs/:org/executions';

/** What a list shows, as the service is asked for it. */
export type ListQuery = ReturnType<typeof toQuery>;
/** A range that moves with the time stands still while it is read: its pages belong together. */
type ListPage = Answer<typeof LIST> & { readonly query: ListQuery };
type Place = { readonly cursor: string; readonly query: ListQuery };
type Pages = InfiniteData<ListPage, Place | null>;

/** The list as it is read page by page, kept up to date by the service's events. */
export function useExecutions(search: ListSearch) {
  const org = useOrg();
  const client = useQueryClient();
  const key = useListKey(org, search);
  const list = useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam, signal }): Promise<ListPage> => {
      const { cursor, query } = pageParam ?? { cursor: null, query: toQuery(search, serviceNow()) };
      return { ...(await readPage(org, query, PAGE_SIZE, cursor, signal)), query };
    },
    initialPageParam: null as Place | null,
    getNextPageParam: ({ next_cursor: cursor, query }) => (cursor === null ? null : { cursor, query }),
    placeholderData: keepPreviousData,
    // Events keep it up to date; reading all pages again would move what somebody looks at.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    gcTime: KEPT_MS,
  });
  const query = list.data?.pages[0]?.query;
  const [fresh, setFresh] = useState<readonly ExecutionItem[]>([]);
  const [freshFor, setFreshFor] = useState(key);
  if (freshFor !== key) {
    setFreshFor(key);
    setFresh([]);
  }

  const shownKey = useRef(key);
  useEffect(() => {
    shownKey.current = key;
  });
  const take = (items: readonly ExecutionItem[], mayBeNew = true) => {
    const pages = client.getQueryData<Pages>(key);
    // What was asked for one list is nothing to the one that is shown by then.
    if (pages === undefined || shownKey.current !== key) return;
    const known = new Set(pages.pages.flatMap((page) => page.items.map(({ id }) => id)));
    if (items.some(({ id }) => known.has(id))) client.setQueryData<Pages>(key, putInPlace(pages, items));
    const newest = pages.pages[0]?.items[0]?.id ?? 0;
    const isNew = (item: ExecutionItem) =>
      mayBeNew && !known.has(item.id) && item.id > newest && fits(item, search, serviceNow());
    setFresh((before) => merge(before, items, isNew));
    // Where there is nothing, nothing can jump.
    if (newest === 0 && items.some(isNew)) showFresh();
  };
  const showFresh = () => {
    setFresh([]);
    void client.resetQueries({ queryKey: key, exact: true });
  };
  // Bit by bit, so that it shows although more and more is missed.
  const catchUp = useCatchUp(async () => {
    const shown = client.getQueryData<Pages>(key)?.pages ?? [];
    const newest = await readPage(org, shown[0]?.query ?? toQuery(search, serviceNow()), PAGE_SIZE, null);
    take(newest.items);
    const items = shown.flatMap((page) => page.items);
    await readAgain(org, items, (again) => take(again, false));
  });
  const isLive = useEvents(
    `${LIST}/events`,
    { params: { org } },
    {
      changed: ({ items }) => {
        take(items, !needsService(search));
        if (needsService(search)) catchUp();
      },
      missed: catchUp,
    },
  );
  return { list, query, fresh, showFresh, isLive };
}

/**
 * Who comes back finds the pages that were read, as far down as they went; who comes anew reads anew, although the
 * filters may be the same: the place in the browser's history tells them apart.
 */
function useListKey(org: number, search: ListSearch): readonly unknown[] {
  const router = useRouter();
  return useMemo(() => [LIST, { org }, search, router.latestLocation.state.__TSR_key], [org, search, router]);
}

/** Reads what was missed. Several may be missed while it is read: once more is enough. */
function useCatchUp(read: () => Promise<void>): () => void {
  const isBehind = useRef(false);
  const isReading = useRef(false);
  const isGone = useRef(false);
  const readNow = useEffectEvent(read);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const begin = useEffectEvent(async () => {
    isBehind.current = true;
    if (isReading.current) return;
    isReading.current = true;
    while (isBehind.current && !isGone.current) {
      isBehind.current = false;
      // What can't be read now is reported again by the stream.
      await readNow().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    isReading.current = false;
  });
  return () => void begin();
}

/** One page of the list. */
export function readPage(
  org: number,
  query: ListQuery,
  limit: number,
  cursor: string | null,
  signal?: AbortSignal,
): Promise<Answer<typeof LIST>> {
  return call(LIST, {
    params: { org },
    query: { limit, ...query, ...(cursor === null ? {} : { cursor }) },
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Those that may have changed, as they are now. */
async function readAgain(
  org: number,
  shown: readonly ExecutionItem[],
  take: (items: readonly ExecutionItem[]) => void,
): Promise<void> {
  const ids = shown.filter(({ status }) => isUnderWay(status)).map(({ id }) => id);
  for (let from = 0; from < ids.length; from += MAX_IDS) {
    const query = { ids: ids.slice(from, from + MAX_IDS).join() };
    take((await call(LIST, { params: { org }, query })).items);
  }
}

/** Rows keep their place, whatever became of them. One that has ended stays so: what was read before may come after. */
function putInPlace(pages: Pages, items: readonly ExecutionItem[]): Pages {
  const latest = new Map(items.map((item) => [item.id, item]));
  return {
    ...pages,
    pages: pages.pages.map((page) => ({
      ...page,
      items: page.items.map((item) => (isUnderWay(item.status) ? (latest.get(item.id) ?? item) : item)),
    })),
  };
}

function merge(
  before: readonly ExecutionItem[],
  items: readonly ExecutionItem[],
  isNew: (item: ExecutionItem) => boolean,
): readonly ExecutionItem[] {
  const added = items.filter(isNew);
  if (added.length === 0 || before.length >= MAX_FRESH) return before;
  const byId = new Map([...before, ...added].map((item) => [item.id, item]));
  return [...byId.values()];
}
