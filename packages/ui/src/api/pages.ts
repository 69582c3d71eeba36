import type { Answer, EndpointName } from '@millrace/admin-api';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { type AnyOptions, type CallArguments, send } from './client.ts';
import { keyOf } from './query.ts';

/** Endpoints that answer a page of a list and where the next one begins. */
type PagedEndpoint = {
  [Name in EndpointName]: Answer<Name> extends {
    readonly items: readonly unknown[];
    readonly next_cursor: string | null;
  }
    ? Name
    : never;
}[EndpointName];

/** What one list wants else than the others. */
export interface PagesSettings {
  /** Reads a single page again so often; many together less often, so that it is not more for the service. */
  readonly refetchInterval?: number;
  /** Milliseconds for which what was read counts as fresh; as for every query when not said. */
  readonly staleTime?: number;
  /** Shows the pages of the former filters until those of the new ones are there. */
  readonly keepsPrevious?: boolean;
}

/**
 * A list that is read page by page, all pages together.
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
  type Item = Answer<Name>['items'][number];
  const items: readonly Item[] = list.data?.pages.flatMap((page): readonly Item[] => page.items) ?? [];
  return { ...list, items };
}
