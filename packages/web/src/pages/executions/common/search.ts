import type { ExecutionItem } from '@millrace/admin-api';

export const STATUSES = ['queued', 'running', 'waiting_async', 'completed', 'failed', 'cancelled'] as const;
export const TRIGGERS = ['api', 'webhook', 'schedule', 'manual', 'flow', 'error'] as const;
export const RANGES = ['hour', 'day', 'week', 'month', 'custom'] as const;
export type Range = (typeof RANGES)[number];

/** Filters of the list, as they stand in the address. */
export interface ListSearch {
  /** Several, separated by commas. */
  readonly status?: string;
  readonly workflow?: number;
  readonly trigger?: string;
  readonly test?: 'yes' | 'no';
  readonly text?: string;
  /** The key that started it, and part of the address it was started from; for roles that may read the audit log. */
  readonly key?: number;
  readonly ip?: string;
  readonly range?: Range;
  /** With the range `custom`: RFC 3339. */
  readonly after?: string;
  readonly before?: string;
}

type Given = { readonly [name: string]: unknown };

/** What is no filter in an address is left out. */
export function readListSearch(given: Given): ListSearch {
  const { status, workflow, trigger, test, text, key, ip, range, after, before } = given;
  const statuses = STATUSES.filter((each) => textOf(status).split(',').includes(each));
  const knownRange = RANGES.find((each) => each === range);
  const search: { -readonly [Name in keyof ListSearch]: ListSearch[Name] } = {};
  if (statuses.length > 0) search.status = statuses.join();
  if (isId(workflow)) search.workflow = Number(workflow);
  if (typeof trigger === 'string' && /^[a-z_]{1,40}$/.test(trigger)) search.trigger = trigger;
  if (test === 'yes' || test === 'no') search.test = test;
  if ((typeof text === 'string' || typeof text === 'number') && text !== '') search.text = String(text);
  if (isId(key)) search.key = Number(key);
  if (textOf(ip).trim() !== '') search.ip = textOf(ip).trim().slice(0, 100);
  if (knownRange !== undefined) search.range = knownRange;
  if (knownRange === 'custom' && isMoment(after)) search.after = after;
  if (knownRange === 'custom' && isMoment(before)) search.before = before;
  return search;
}

export interface CompareSearch {
  readonly a?: number;
  readonly b?: number;
}

export function readCompareSearch({ a, b }: Given): CompareSearch {
  return { ...(isId(a) ? { a: Number(a) } : {}), ...(isId(b) ? { b: Number(b) } : {}) };
}

export interface DetailSearch {
  /** The node whose output is shown; an empty text stands for none. */
  readonly node?: string;
  /** And in which iteration: `0`, in nested loops `0,3`. */
  readonly iteration?: string;
}

export function readDetailSearch({ node, iteration }: Given): DetailSearch {
  const isNode = typeof node === 'string' || typeof node === 'number';
  const place = textOf(iteration);
  return {
    ...(isNode ? { node: String(node) } : {}),
    ...(isNode && /^\d{1,9}(,\d{1,9})*$/.test(place) ? { iteration: place } : {}),
  };
}

const HOUR_MS = 3_600_000;
const RANGE_MS: { readonly [Name in Exclude<Range, 'custom'>]: number } = {
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
  month: 30 * 24 * HOUR_MS,
};

/** The filters as the service takes them. A range that moves with the time is counted from `nowMs`. */
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

/** Whether only the service can tell if an execution belongs to what the filters ask for. */
export function needsService({ key, ip }: ListSearch): boolean {
  return key !== undefined || ip !== undefined;
}

/** Whether an execution belongs to what the filters ask for, apart from what only the service can tell. */
export function fits(item: ExecutionItem, search: ListSearch, nowMs: number): boolean {
  const bounds = toQuery(search, nowMs);
  const text = search.text?.trim().toLowerCase() ?? '';
  const createdMs = Date.parse(item.created_at);
  return (
    (search.status === undefined || search.status.split(',').includes(item.status)) &&
    (search.workflow === undefined || item.workflow_id === search.workflow) &&
    (search.trigger === undefined || item.trigger_type === search.trigger) &&
    (search.test === undefined || item.is_test_mode === (search.test === 'yes')) &&
    item.display_name.toLowerCase().includes(text) &&
    createdMs >= (bounds.after === undefined ? Number.NEGATIVE_INFINITY : Date.parse(bounds.after)) &&
    createdMs <= (bounds.before === undefined ? Number.POSITIVE_INFINITY : Date.parse(bounds.before))
  );
}

function isId(value: unknown): boolean {
  return Number.isSafeInteger(Number(value)) && Number(value) >= 1;
}

function isMoment(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

/** The router reads digits as a number. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
