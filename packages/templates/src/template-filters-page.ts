import { NotLoadedError } from '@millrace/values/not-loaded';
import type { Filter } from './template-filter.ts';

/** Stands in for `template-filters.ts` in the admin area: most templates of a shown page only name values. */

let loaded: ReadonlyMap<string, Filter> | undefined;

/** Afterwards templates with filters can be read and rendered. */
export async function loadFilters(): Promise<void> {
  loaded ??= (await import('./template-filters.ts')).FILTERS;
}

/** All filters; whatever is asked of them throws a NotLoadedError until they are loaded. */
export const FILTERS: ReadonlyMap<string, Filter> = new Proxy(new Map<string, Filter>(), {
  get(_none, name) {
    if (loaded === undefined) throw new NotLoadedError('filters', loadFilters);
    const member: unknown = Reflect.get(loaded, name);
    return typeof member === 'function' ? member.bind(loaded) : member;
  },
});
