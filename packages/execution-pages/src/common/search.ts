import type { ExecutionItem } from '@millrace/admin-api';
import { EXECUTION_STATUSES } from '@millrace/engine';
import { id, moment, oneOf, searchReader, text } from '@millrace/ui/api/search-params.ts';

export const TRIGGERS = [
  'api',
  'webhook',
  'form',
  'chat',
  'schedule',
  'poll',
  'manual',
  'flow',
  'error',
] as const;
/** Besides the name. */
export const SEARCHED_IN = ['keys', 'error', 'input'] as const;
export const RANGES = ['hour', 'day', 'week', 'month', 'custom'] as const;
export type Range = (typeof RANGES)[number];

const readFilters = searchReader({
  /** Comma-separated. */
  status: (value) =>
    EXECUTION_STATUSES.filter((each) => String(value).split(',').includes(each)).join() || undefined,
  workflow: id,
  trigger: (value) => (/^[a-z_]{1,40}$/.test(String(value)) ? text(value) : undefined),
  test: oneOf(['yes', 'no']),
  text,
  /** Where the text is looked for; by default in the name. */
  in: oneOf(SEARCHED_IN),
  /** The key that started it, and part of the caller's IP address; for roles that may read the audit log. */
  key: id,
  ip: (value) => text(value)?.trim().slice(0, 100),
  range: oneOf(RANGES),
  /** With the range `custom`: RFC 3339. */
  after: moment,
  before: moment,
});

/** Filters of the list as stored in the address. */
export type ListSearch = ReturnType<typeof readFilters>;

export function readListSearch(given: object): ListSearch {
  const search = readFilters(given);
  if (search.range === 'custom') return search;
  const { after: _after, before: _before, ...rest } = search;
  return rest;
}

export const readCompareSearch = searchReader({ a: id, b: id });

const readNode = searchReader({
  /** The node whose output is shown; an empty string for none. */
  node: (value) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined),
  /** The iteration shown: `0`, in nested loops `0,3`. */
  iteration: (value) => (/^\d{1,9}(,\d{1,9})*$/.test(String(value)) ? String(value) : undefined),
});

export type DetailSearch = ReturnType<typeof readNode>;

export function readDetailSearch(given: object): DetailSearch {
  const search = readNode(given);
  return search.node === undefined ? {} : search;
}

const HOUR_MS = 3_600_000;
const RANGE_MS: { readonly [Name in Exclude<Range, 'custom'>]: number } = {
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
  month: 30 * 24 * HOUR_MS,
};

/** The filters in the service's format. Relative ranges are counted from `nowMs`. */
export function toQuery(
  { range, after, before, ...rest }: ListSearch,
  nowMs: number,
): Omit<ListSearch, 'range'> {
  if (range === undefined) return rest;
  if (range !== 'custom') return { ...rest, after: new Date(nowMs - RANGE_MS[range]).toISOString() };
  return {
    ...rest,
    ...(after === undefined ? {} : { after }),
    ...(before === undefined ? {} : { before }),
  };
}

/** Whether only the service can match an execution against these filters. */
export function needsService({ key, ip, text: wanted, in: place }: ListSearch): boolean {
  return key !== undefined || ip !== undefined || (wanted !== undefined && place !== undefined);
}

/** Whether an execution matches the filters, apart from those only the service can check. */
export function fits(item: ExecutionItem, search: ListSearch, nowMs: number): boolean {
  const bounds = toQuery(search, nowMs);
  const name = search.text?.trim().toLowerCase() ?? '';
  const createdMs = Date.parse(item.created_at);
  return (
    (search.status === undefined || search.status.split(',').includes(item.status)) &&
    (search.workflow === undefined || item.workflow_id === search.workflow) &&
    (search.trigger === undefined || item.trigger_type === search.trigger) &&
    (search.test === undefined || item.is_test_mode === (search.test === 'yes')) &&
    item.display_name.toLowerCase().includes(name) &&
    createdMs >= (bounds.after === undefined ? Number.NEGATIVE_INFINITY : Date.parse(bounds.after)) &&
    createdMs <= (bounds.before === undefined ? Number.POSITIVE_INFINITY : Date.parse(bounds.before))
  );
}
