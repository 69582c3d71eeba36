import type { Filter } from './template-filter.ts';
import { DATE_FILTERS } from './template-filters-date.ts';
import { ENCODING_FILTERS } from './template-filters-encoding.ts';
import { LIST_FILTERS } from './template-filters-list.ts';
import { MOMENT_FILTERS } from './template-filters-moment.ts';
import { NUMBER_FILTERS } from './template-filters-number.ts';
import { PATTERN_FILTERS } from './template-filters-pattern.ts';
import { TEXT_FILTERS } from './template-filters-text.ts';

/** All filters. Every one is pure; adding one changes the template language (SPEC.md, T rules). */
export const FILTERS: ReadonlyMap<string, Filter> = new Map(
  [
    TEXT_FILTERS,
    PATTERN_FILTERS,
    LIST_FILTERS,
    NUMBER_FILTERS,
    DATE_FILTERS,
    MOMENT_FILTERS,
    ENCODING_FILTERS,
  ].flatMap((group) => Object.entries(group)),
);
