import {
  type Failure,
  failure,
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  type PollContext,
  type PolledItem,
  type PollResult,
  setOwn,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { MAX_LISTED } from '@millrace/node-kit/polling-settings';
import { scalarText } from '@millrace/node-kit/values';
import { ask } from './ask.ts';
import type { Asked, Connector, ConnectorTrigger } from './format.ts';
import { type Fetched, fetchItems } from './pages.ts';
import type { Call } from './request.ts';
import { cellsOf, cellText } from './table-cells.ts';
import { fillIn, fillInText, type TemplateBudget } from './templates.ts';

/** Of one list with pages. What is beyond them waits, or is refused: a poll has a minute. */
const MAX_PAGES = 20;
export const MAX_PAGED_ITEMS = 1_000;
const REQUEST_MS = 20_000;
const SECOND_MS = 1_000;
const DEFAULT_OVERLAP_S = 300;

/** A trigger of a connector, with the settings that a workflow gives it. */
export interface PolledTrigger {
  readonly connector: Connector;
  readonly trigger: ConnectorTrigger;
  readonly credentialId: number;
  /** Whether the first poll starts what it finds. */
  readonly startsExisting: boolean;
  /** The trigger's own settings by name. */
  readonly args: JsonObject;
  /** Of the whole poll. */
  readonly budget: TemplateBudget;
}

/** What a poll begins with. */
interface Beginning {
  readonly nowMs: number;
  /** Null: everything there is. */
  readonly sinceMs: number | null;
  readonly cursor: JsonValue;
  readonly args: JsonObject;
  readonly budget: TemplateBudget;
}

/**
 * Lists what a service has that is new, as far as the trigger's cursor says so; the engine of polling leaves out what was found before.
 * @throws NodeProblem, ServiceError, RenderLimitError
 */
export async function pollTrigger(polled: PolledTrigger, context: PollContext): Promise<PollResult> {
  const { trigger, connector } = polled;
  const { cursor, order } = trigger;
  const service = connector.title;
  let beginning = beginningOf(polled, context, context.position);
  let fetched = await listItems(polled, beginning, context);
  if (fetched.kind === 'failure') return fetched;
  // A value leads behind what is there, so nothing of it has to be remembered.
  const skips = context.isFirst && !polled.startsExisting && cursor?.type === 'value';
  for (let round = 1; skips && fetched.hasMore && round < MAX_PAGES; round++) {
    const position = positionAfter(trigger, beginning, fetched, rowsOf(trigger, fetched, beginning));
    if (!isJsonObject(position)) break;
    beginning = beginningOf(polled, context, position);
    fetched = await listItems(polled, beginning, context);
    if (fetched.kind === 'failure') return fetched;
  }
  // What was cut off would be lost, unless the next poll continues there; a list of the newest without a cursor is always cut.
  const isLost = order === 'unordered' || (order === 'newest_first' && cursor !== undefined);
  if (fetched.hasMore && isLost) {
    return failure(
      'too_many_items',
      message('nodes.poll_trigger_too_many', { service, max: fetched.items.length }),
    );
  }
  const listed = rowsOf(trigger, fetched, beginning);
  const wanted = listed.filter((item) => isWanted(trigger, item, beginning));
  if (wanted.length > MAX_LISTED) {
    return failure('too_many_items', message('nodes.poll_trigger_too_many', { service, max: MAX_LISTED }));
  }
  const position = positionAfter(trigger, beginning, fetched, listed);
  const isSkipped = skips && position !== null;
  const items: PolledItem[] = [];
  for (const [at, item] of (isSkipped ? [] : wanted).entries()) {
    const args = { ...beginning.args, item };
    const id = scalarText(fillIn(trigger.id_of, args, polled.budget));
    if (id === undefined || id === '') {
      return failure('invalid_response', message('nodes.poll_trigger_no_id', { service, at }));
    }
    items.push({ id, data: trigger.data === undefined ? item : fillIn(trigger.data, args, polled.budget) });
  }
  return { kind: 'polled', items: order === 'newest_first' ? items.toReversed() : items, position };
}

/**
 * Reads more about items that will be started, one after the other.
 * @returns those that are still there, or a failure to try again later
 */
export async function readDetails(
  polled: PolledTrigger,
  context: PollContext,
  items: readonly PolledItem[],
): Promise<readonly PolledItem[] | Failure> {
  const { detail } = polled.trigger;
  if (detail === undefined) return items;
  const { args, budget } = beginningOf(polled, context, context.position);
  const complete: PolledItem[] = [];
  for (const { id, data: item } of items) {
    const call = callOf(polled, detail.request, { ...args, item });
    const answer = await ask(call, context);
    if (answer.kind === 'accepted') {
      const data = fillIn(detail.output, { ...call.args, response: answer.response }, budget);
      complete.push({ id, data });
      continue;
    }
    // Deleted since it was listed.
    if (answer.code !== 'connector_not_found') return answer;
  }
  return complete;
}

function beginningOf(
  { trigger, args, startsExisting, budget }: PolledTrigger,
  context: Pick<PollContext, 'now'>,
  position: JsonValue,
): Beginning {
  const nowMs = context.now();
  const { cursor } = trigger;
  const stored = isJsonObject(position) ? position : {};
  const overlapMs = (cursor?.overlap_s ?? DEFAULT_OVERLAP_S) * SECOND_MS;
  const last = typeof stored.since === 'string' ? Date.parse(stored.since) : Number.NaN;
  const beginsNow = Number.isNaN(last) ? (startsExisting ? null : nowMs - overlapMs) : last;
  const sinceMs = cursor?.type === 'time' ? beginsNow : null;
  const value = stored.cursor ?? null;
  const times: JsonObject = {
    now: isoOf(nowMs),
    since: sinceMs === null ? null : isoOf(sinceMs),
    since_s: sinceMs === null ? null : Math.floor(sinceMs / SECOND_MS),
    cursor: value,
  };
  return { nowMs, sinceMs, cursor: value, args: { ...args, ...times }, budget };
}

/** With whole seconds: not every service reads fractions. */
function isoOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function callOf(polled: PolledTrigger, request: Asked['request'], args: JsonObject): Call {
  const { connector, trigger, credentialId, budget } = polled;
  const { errors } = trigger;
  return {
    connector,
    operation: { request, effect: false, ...(errors === undefined ? {} : { errors }) },
    args,
    limits: { credential_id: credentialId, timeout_ms: REQUEST_MS },
    budget,
    // Reading needs no key that makes repeats harmless.
    idempotencyKey: '',
  };
}

async function listItems(
  polled: PolledTrigger,
  beginning: Beginning,
  context: PollContext,
): Promise<Fetched | Failure> {
  const { args } = beginning;
  const { trigger, connector } = polled;
  const { pagination, order, request, more } = trigger;
  const call = callOf(polled, request, args);
  const isEnough = (found: readonly JsonValue[]): boolean => {
    const oldest = order === 'newest_first' ? found.at(-1) : undefined;
    return oldest !== undefined && isBefore(trigger, oldest, beginning);
  };
  if (pagination !== undefined) {
    const bounds = { limit: MAX_PAGED_ITEMS, maxPages: MAX_PAGES, isEnough };
    return fetchItems(call, pagination, bounds, (page) => ask(call, context, page));
  }
  const answer = await ask(call, context);
  if (answer.kind === 'failure') return answer;
  const { response } = answer;
  const given = fillIn(trigger.items ?? '', { ...args, response }, polled.budget);
  // An empty sheet has no rows.
  const items = trigger.table !== undefined && !isJsonArray(given) ? [] : given;
  if (isJsonArray(items)) {
    const isCut = more !== undefined && fillIn(more, { ...args, response }, polled.budget) === true;
    return { kind: 'fetched', items, hasMore: isCut && !isEnough(items), response };
  }
  return failure('invalid_response', message('nodes.connector_no_list', { service: connector.title }));
}

/** Items, or rows under their names. */
function rowsOf(
  { table }: ConnectorTrigger,
  { items, response }: Fetched,
  { args, budget }: Beginning,
): readonly JsonValue[] {
  if (table === undefined) return items;
  const names = cellsOf(fillIn(table.header, { ...args, response }, budget)).map(cellText);
  return items.map((row, at) => {
    const cells = cellsOf(row);
    const named: { [name: string]: JsonValue } = { row_number: table.first_row + at };
    for (const [column, name] of names.entries()) if (name !== '') setOwn(named, name, cells[column] ?? '');
    return named;
  });
}

function isWanted(trigger: ConnectorTrigger, item: JsonValue, beginning: Beginning): boolean {
  if (isBefore(trigger, item, beginning)) return false;
  const { args, budget } = beginning;
  return trigger.when === undefined || fillIn(trigger.when, { ...args, item }, budget) === true;
}

/** Whether an item appeared before the time that is asked for. What says nothing of its time may be new. */
function isBefore(trigger: ConnectorTrigger, item: JsonValue, beginning: Beginning): boolean {
  const { sinceMs } = beginning;
  const timeMs = timeOf(trigger, item, beginning);
  return sinceMs !== null && timeMs !== null && timeMs < sinceMs - (sinceMs % SECOND_MS);
}

function timeOf({ cursor }: ConnectorTrigger, item: JsonValue, { args, budget }: Beginning): number | null {
  if (cursor?.item_time === undefined) return null;
  const given = fillInText(cursor.item_time, { ...args, item }, budget);
  const ms = /^\d+(?:\.\d+)?$/.test(given) ? Number(given) * SECOND_MS : Date.parse(given);
  return Number.isNaN(ms) ? null : ms;
}

function positionAfter(
  trigger: ConnectorTrigger,
  beginning: Beginning,
  { hasMore, response }: Fetched,
  listed: readonly JsonValue[],
): JsonValue {
  const { nowMs, args, budget, cursor: before } = beginning;
  const { cursor } = trigger;
  if (cursor === undefined) return null;
  if (cursor.type === 'value') {
    const next = fillIn(cursor.next ?? '', { ...args, items: listed, response }, budget);
    const isKept = next === null || next === '' || (isJsonObject(next) && !isRawNumber(next));
    return isKept && before === null ? null : { cursor: isKept ? before : next };
  }
  const last = listed.at(-1);
  // Of a list that was cut, the next poll continues behind its end.
  const endMs = hasMore && last !== undefined ? timeOf(trigger, last, beginning) : nowMs;
  const overlapMs = hasMore ? 0 : (cursor.overlap_s ?? DEFAULT_OVERLAP_S) * SECOND_MS;
  return endMs === null ? null : { since: isoOf(endMs - overlapMs) };
}
