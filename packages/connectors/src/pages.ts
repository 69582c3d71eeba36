import {
  type Failure,
  failure,
  isJsonArray,
  type JsonObject,
  type JsonValue,
  type NodeResult,
  stringifyJson,
  success,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import type { Accepted } from './answer.ts';
import type { Pagination, Place } from './format.ts';
import type { Call, PageRequest } from './request.ts';
import { fillIn, type TemplateBudget } from './templates.ts';

/** Within one attempt. */
export const MAX_PAGES = 100;
export const MAX_ITEMS = 10_000;
/** Of the answers; none is asked for once they have as many. */
const MAX_PAGES_BYTES = 16 * 1024 * 1024;

/** Where the next page is; null: there is none. */
type Next = { readonly into?: readonly [Place, JsonValue]; readonly url?: string };

/** What was fetched of a list. */
export interface Fetched {
  readonly kind: 'fetched';
  readonly items: readonly JsonValue[];
  /** Whether there are more than were asked for. */
  readonly hasMore: boolean;
  /** The last response. */
  readonly response: JsonObject;
}

export interface PageBounds {
  /** The number of items that are wanted. */
  readonly limit: number;
  readonly maxPages?: number;
  /** Whether nothing on later pages is wanted; gets a page's items. */
  readonly isEnough?: (items: readonly JsonValue[]) => boolean;
}

/**
 * Fetches pages until there are as many items as are wanted.
 * @param ask sends the request of a page
 */
export async function fetchPages(
  call: Call,
  pagination: Pagination,
  limit: number,
  ask: (page: PageRequest) => Promise<Accepted | Failure>,
): Promise<NodeResult> {
  const fetched = await fetchItems(call, pagination, { limit }, ask);
  if (fetched.kind === 'failure') return fetched;
  const shown = fetched.items.slice(0, limit);
  return success({ items: shown, count: shown.length, has_more: fetched.hasMore });
}

/** Like {@link fetchPages}; the last page's items are all there, even beyond the limit. */
export async function fetchItems(
  call: Call,
  pagination: Pagination,
  { limit, maxPages = MAX_PAGES, isEnough = () => false }: PageBounds,
  ask: (page: PageRequest) => Promise<Accepted | Failure>,
): Promise<Fetched | Failure> {
  const { title: service } = call.connector;
  const items: JsonValue[] = [];
  const seen = new Set<string>();
  let bytesLeft = MAX_PAGES_BYTES;
  let next: Next | null = firstPage(pagination);
  let response: JsonObject = {};
  for (let page = 0; page < maxPages && next !== null && items.length < limit && bytesLeft > 0; page++) {
    // The same for every page: services that count pages or items need pages of one size.
    const size = Math.min(limit, pagination.size.max);
    const answer = await ask(pageRequest(pagination, next, size));
    if (answer.kind === 'failure') return answer;
    ({ response } = answer);
    const args: JsonObject = { ...call.args, response };
    const found = fillIn(pagination.items, args, call.budget) ?? (pagination.optional === true ? [] : null);
    if (!isJsonArray(found)) return unreadable(message('nodes.connector_no_list', { service }));
    items.push(...found);
    bytesLeft -= answer.bytes;
    next = nextPage(pagination, {
      args,
      budget: call.budget,
      found: found.length,
      size,
      page,
      total: items.length,
    });
    if (next !== null && isEnough(found)) next = null;
    if (next === null) break;
    if (next.url !== undefined && !isSameService(call, next.url)) {
      return unreadable(message('nodes.connector_foreign_page', { service }));
    }
    const place = stringifyJson(next.url ?? next.into?.[1] ?? null);
    if (seen.has(place)) return unreadable(message('nodes.connector_same_page', { service }));
    seen.add(place);
  }
  return { kind: 'fetched', items, hasMore: next !== null || items.length > limit, response };
}

function pageRequest(pagination: Pagination, next: Next, size: number): PageRequest {
  if (next.url !== undefined) return { values: [], url: next.url };
  const { in: where, name } = pagination.size;
  const values: (readonly [Place, JsonValue])[] = [[{ in: where, name }, size]];
  return { values: next.into === undefined ? values : [...values, next.into] };
}

function firstPage({ type, into, first = 1 }: Pagination): Next {
  return type === 'page' && into !== undefined ? { into: [into, first] } : {};
}

/** What is known when a page has arrived. */
interface Arrived {
  readonly args: JsonObject;
  readonly budget: TemplateBudget;
  readonly found: number;
  readonly size: number;
  /** From 0. */
  readonly page: number;
  readonly total: number;
}

function nextPage({ type, into, next, first = 1 }: Pagination, arrived: Arrived): Next | null {
  const { args, budget, found, size, page, total } = arrived;
  if (type === 'link') {
    const url = nextLink((args.response as JsonObject).headers as JsonObject);
    return url === null ? null : { url };
  }
  const given = next === undefined ? null : fillIn(next, args, budget);
  if (type === 'next_url') return typeof given === 'string' && given !== '' ? { url: given } : null;
  if (into === undefined) return null;
  if (type === 'cursor') {
    return given === null || given === '' || given === false ? null : { into: [into, given] };
  }
  if (found < size) return null;
  return { into: [into, type === 'page' ? first + page + 1 : total] };
}

/** The address that a Link header (RFC 8288) names as the next one. */
function nextLink({ link }: JsonObject): string | null {
  if (typeof link !== 'string') return null;
  for (const [, url = '', parameters = ''] of link.matchAll(/<([^<>]*)>((?:\s*;[^,<>]*)*)/g)) {
    if (/;\s*rel\s*=\s*"?(?:[^";]*\s)?next(?:\s[^";]*)?"?/i.test(parameters)) return url;
  }
  return null;
}

/** The credential is sent there: an answer must not choose another host. */
function isSameService({ connector }: Call, url: string): boolean {
  const target = URL.parse(url);
  const base = URL.parse(connector.base_url);
  return target !== null && base !== null && target.origin === base.origin;
}

function unreadable(said: Message): Failure {
  return failure('invalid_response', said);
}
