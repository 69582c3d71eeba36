import type { EndpointName, ResponseBody } from '@millrace/admin-api';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { type AnyOptions, type CallArguments, send } from './client.ts';
import { keyOf } from './query.ts';

/** Endpoints that return a page of a list and the cursor of the next. */
type PagedEndpoint = {
  [Name in EndpointName]: ResponseBody<Name> extends {
    readonly items: readonly unknown[];
    readonly next_cursor: string | null;
  }
    ? Name
    : never;
}[EndpointName];

/** Per-list settings. */
export interface PagesSettings {
  /** Polling interval for a single page; longer when many pages are loaded, so that the load on the service stays the same. */
  readonly refetchInterval?: number;
  /** Milliseconds; defaults to that of all queries. */
  readonly staleTime?: number;
  /** Keeps showing the previous filters' pages until the new ones have loaded. */
  readonly keepsPrevious?: boolean;
}

/**
 * A paginated list, with all loaded pages combined.
 * @param options as for the endpoint itself, without the cursor
 */
export function usePages<Name extends PagedEndpoint>(
  name: Name,
  options: NonNullable<CallArguments<Name>[0]>,
  { refetchInterval, staleTime, keepsPrevious: keepsFormer = false }: PagesSettings = {},
) {
  const given: AnyOptions = options;
  const list = useInfiniteQuery({
    queryKey: [...keyOf(name, given), 'pages'],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...given.query, ...(pageParam === null ? {} : { cursor: pageParam }) };
      return send(name, { ...given, query, signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval:
      refetchInterval === undefined
        ? false
        : ({ state }) => refetchInterval * Math.max(1, state.data?.pages.length ?? 1),
    ...(staleTime === undefined ? {} : { staleTime }),
    ...(keepsFormer ? { placeholderData: keepPreviousData } : {}),
  });
  type Item = ResponseBody<Name>['items'][number];
  const items: readonly Item[] = list.data?.pages.flatMap((page): readonly Item[] => page.items) ?? [];
  return { ...list, items };
}
