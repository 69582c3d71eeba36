import {
  type FlowNode,
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  listNodeReferences,
  own,
} from '@millrace/engine';
import type { TFunction } from 'i18next';

/** No line shows more than this. */
const MAX_LENGTH = 120;
/** Operators with a text of their own; others use a generic one. */
const OPERATORS = [
  'equals',
  'not_equals',
  'greater_than',
  'greater_or_equal',
  'less_than',
  'less_or_equal',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'in',
  'not_in',
  'exists',
  'not_exists',
  'is_empty',
  'is_not_empty',
  'is_true',
  'is_false',
] as const;
const UNITS = ['ms', 'seconds', 'minutes', 'hours', 'days'] as const;

type Describe = (config: JsonObject, t: TFunction) => string | null;

/** By type: describes a configured node in a few words. */
const BY_TYPE: { readonly [type: string]: Describe } = {
  'trigger.schedule': ({ schedule }, t) => aboutSchedule(schedule, t),
  'http.request': ({ method, url }) => join([plain(method) ?? 'GET', aboutUrl(url)]),
  'http.webhook_output': ({ url }) => aboutUrl(url),
  'core.set': ({ values }) => (isJsonObject(values) ? join(Object.keys(values), ', ') : null),
  'core.if': ({ conditions }, t) => aboutConditions(conditions, t),
  'core.filter': ({ conditions }, t) => aboutConditions(conditions, t),
  'core.repeat': ({ until }, t) => aboutConditions(until, t),
  'core.for_each': ({ items }) => plain(items),
  'core.data': ({ steps }, t) =>
    isJsonArray(steps) && steps.length > 0 ? t('canvas.about.steps', { count: steps.length }) : null,
  'core.delay': (config, t) => aboutDelay(config, t),
  'core.fail': ({ code, message }) => plain(message) ?? plain(code),
  'wait.approval': ({ title }) => plain(title),
  'flow.call': ({ workflow_id: id }, t) =>
    typeof id === 'number' && id > 0 ? t('canvas.about.workflow', { id }) : null,
  'data.store': ({ operation, key, prefix }) =>
    join([plain(operation), plain(operation === 'list' ? prefix : key)]),
  'trigger.form': ({ title }) => plain(title),
  'trigger.chat': ({ title }) => plain(title),
  'chat.notify': ({ channel, text, title }) => plain(channel) ?? plain(title) ?? plain(text),
  'email.send': ({ subject }) => plain(subject),
  'sql.query': ({ query }) => plain(query),
  'ai.generate': ({ prompt, model }) => plain(prompt) ?? plain(model),
  'ai.classify': ({ text, model }) => plain(text) ?? plain(model),
  'ai.extract': ({ text, model }) => plain(text) ?? plain(model),
  'ai.vectors': ({ operation, collection }) => join([plain(operation), plain(collection)]),
  'ai.agent': ({ prompt, model }) => plain(prompt) ?? plain(model),
};

/** What a node does, in full and as it fits on the node. */
export interface AboutNode {
  readonly whole: string;
  /** Long paths without their start: their last members say what is read. */
  readonly brief: string;
}

/** What the node does as configured; null if its type says it all, or nothing is configured. */
export function aboutNode({ type, data }: FlowNode, t: TFunction): AboutNode | null {
  const text = own(BY_TYPE, type)?.(data?.config ?? {}, t) ?? null;
  if (text === null || text === '') return null;
  return {
    whole: text.replaceAll(MARKED_PATH, '$1').slice(0, MAX_LENGTH),
    brief: text.replaceAll(MARKED_PATH, (_all, path: string) => cutPath(path)).slice(0, MAX_LENGTH),
  };
}

/** Characters of a path that are shown on a node. */
const PATH_LENGTH = 18;
/** Paths are marked by characters that no text contains, so that they can be told from hosts. */
const MARKED_PATH = /\uFDD0([^\uFDD1]*)\uFDD1/g;
const marked = (path: string) => `\uFDD0${path}\uFDD1`;

function cutPath(path: string): string {
  const members = path.match(/^[^.[|]+|[.[|][^.[|]*/g) ?? [];
  if (path.length <= PATH_LENGTH || members.length < 2) return path;
  let end = members.length - 1;
  let length = members[end]?.length ?? 0;
  while (end > 1 && length + (members[end - 1]?.length ?? 0) <= PATH_LENGTH) {
    end -= 1;
    length += members[end]?.length ?? 0;
  }
  return `…${members.slice(end).join('').replace(/^\./, '')}`;
}

/** The cron expression of a cron schedule, which can be described in words. */
export function cronOf({ type, data }: FlowNode): string | null {
  const schedule = data?.config?.schedule;
  if (type !== 'trigger.schedule' || !isJsonObject(schedule)) return null;
  return schedule.type === 'cron' ? plain(schedule.cron) : null;
}

/** Only a template. */
const TEMPLATE = /^\{\{((?:(?!\}\}).)*)\}\}$/s;

/** A string, number or list of them on one line. A template is its path without the root, in braces within a text. */
function plain(value: JsonValue | undefined): string | null {
  if (isRawNumber(value)) return value.rawJSON;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value !== undefined && isJsonArray(value))
    return value.length > 0 ? join(value.map(plain), ', ') : null;
  if (typeof value !== 'string') return null;
  const start = value.slice(0, MAX_LENGTH * 4).trim();
  const path = TEMPLATE.exec(start)?.[1];
  const text =
    path === undefined
      ? start.replace(/\{\{\s*(.*?)\s*\}\}/gs, (_all, inside: string) => `{${marked(shortPath(inside))}}`)
      : marked(shortPath(path.trim()));
  return text.replace(/\s+/g, ' ') || null;
}

function shortPath(path: string): string {
  const [node] = listNodeReferences(`{{${path}}}`);
  const rest = node?.start === '{{nodes'.length ? path.slice(node.end - '{{'.length) : '';
  if (node !== undefined && /^\.output(?![^\s.[|])/.test(rest))
    return node.nodeId + rest.slice('.output'.length);
  return path.replace(/^trigger\.data\./, '');
}

function join(parts: readonly (string | null)[], separator = ' '): string | null {
  return parts.filter((part) => part !== null).join(separator) || null;
}

/** The host; for a template, as much of it as is known. */
function aboutUrl(value: JsonValue | undefined): string | null {
  const text = plain(value);
  return text === null ? null : (/^\w+:\/\/([^/?#]+)/.exec(text)?.[1] ?? text);
}

function aboutSchedule(schedule: JsonValue | undefined, t: TFunction): string | null {
  if (!isJsonObject(schedule)) return null;
  const { type, cron, every, unit } = schedule;
  if (type === 'cron') return plain(cron);
  const known = UNITS.find((each) => each === unit);
  if (typeof every !== 'number' || known === undefined || known === 'ms') return null;
  return t(`canvas.about.every.${known}`, { count: every });
}

function aboutDelay({ duration_ms: ms, duration, until }: JsonObject, t: TFunction): string | null {
  if (typeof ms === 'number') {
    const unit = UNITS.findLast((each) => ms % UNIT_MS[each] === 0 && ms >= UNIT_MS[each]) ?? 'ms';
    return t(`canvas.about.wait.${unit}`, { count: ms / UNIT_MS[unit] });
  }
  if (isJsonObject(duration)) {
    const unit = UNITS.find((each) => each === duration.unit);
    return typeof duration.amount === 'number' && unit !== undefined
      ? t(`canvas.about.wait.${unit}`, { count: duration.amount })
      : null;
  }
  const moment = plain(until);
  return moment === null ? plain(ms) : t('canvas.about.until', { moment });
}
const UNIT_MS = { ms: 1, seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;

/** The first condition, and whether there are more. */
function aboutConditions(conditions: JsonValue | undefined, t: TFunction): string | null {
  if (conditions === undefined || !isJsonArray(conditions)) return null;
  const [first] = conditions;
  if (first === undefined || !isJsonObject(first)) return null;
  const operator = OPERATORS.find((each) => each === first.operator);
  // A filter names a field of its items, or the item itself.
  const left = 'left' in first ? plain(first.left) : (plain(first.field) ?? t('canvas.about.item'));
  if (operator === undefined || left === null) return null;
  const text = t(`canvas.about.operator.${operator}`, { left, right: plain(first.right) ?? '""' });
  return conditions.length > 1 ? t('canvas.about.more', { first: text }) : text;
}
