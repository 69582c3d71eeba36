import type { JsonValue } from '@millrace/values/json';
import { FILTERS } from '../../src/template-filters.ts';

/** Calls a filter directly, with at most a megabyte of output. */
export function applyFilter(
  name: string,
  value: JsonValue,
  args: readonly JsonValue[] = [],
  maxBytes = 1_000_000,
): JsonValue {
  const filter = FILTERS.get(name);
  if (filter === undefined) throw new Error(`no filter ${name}`);
  return filter.apply(value, args, maxBytes, 'UTC', () => {});
}
