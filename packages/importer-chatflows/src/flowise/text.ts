import { isJsonArray, isJsonObject, type JsonValue, setOwn, tryParseJson } from '@millrace/engine';
import { extend, insideOf, literal, MISSING, template } from '@millrace/importer-kit/refs';
import { arrayOf, asText, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import type { DirectStep, Maker } from '../direct/maker.ts';

/** What nodes of one flow share while they are made. */
export interface FlowiseContext {
  readonly maker: Maker;
  /** A chat starts it: each message is a question. */
  readonly isChat: boolean;
  /** The entry of the data store with the conversation so far; null if nothing reads it. */
  history: string | null;
  /** The inside of a template for the item of the iteration around a node, by loop. */
  readonly keys: readonly string[];
}

const contexts = new WeakMap<Maker, FlowiseContext>();

export function setContext(context: FlowiseContext): void {
  contexts.set(context.maker, context);
}

export function contextOf(step: DirectStep): FlowiseContext {
  const context = contexts.get(step.maker);
  if (context === undefined) throw new Error('a step of Flowise has no context');
  return context;
}

const ENTITIES: { readonly [name: string]: string } = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** The text of what its editor wrote as HTML, with Markdown for what HTML emphasises. */
export function plainText(html: string): string {
  if (!/<\/?[a-z][^>]*>/i.test(html)) return html;
  const marked = html
    .replace(/<br\s*\/?>/gi, '\n')
    .replace(/<\/(?:p|h[1-6]|li|pre|blockquote|div)>/gi, '\n')
    .replace(/<h([1-6])[^>]*>/gi, (_found, level: string) => `${'#'.repeat(Number(level))} `)
    .replace(/<li[^>]*>/gi, '- ')
    .replace(/<\/?(?:strong|b)>/gi, '**')
    .replace(/<\/?(?:em|i)>/gi, '_')
    .replace(/<\/?[a-z][^>]*>/gi, '');
  return marked
    .replace(
      /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi,
      (found, decimal?: string, hex?: string, name?: string) => {
        if (name !== undefined) return (Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined) ?? found;
        const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
        return code <= 0x10ffff ? String.fromCodePoint(code) : found;
      },
    )
    .trim();
}

const REFERENCE = /\{\{\s*([^{}]+?)\s*\}\}/g;

/** A text with references as a template. `own`: what the node itself puts out, for what it assigns. */
export function textValue(step: DirectStep, value: JsonValue | undefined, own?: string): string {
  const text = plainText(asText(value));
  let at = 0;
  let made = '';
  for (const found of text.matchAll(REFERENCE)) {
    made += literal(text.slice(at, found.index)) + template(pathOf(step, found[1] ?? '', own));
    at = found.index + found[0].length;
  }
  return made + literal(text.slice(at));
}

/** JSON in a text, with references as its values or within its texts; the text if it isn't JSON. */
export function jsonOrText(step: DirectStep, value: JsonValue | undefined): JsonValue {
  const text = plainText(asText(value));
  let isInside = false;
  let at = 0;
  let quoted = '';
  for (const found of text.matchAll(REFERENCE)) {
    const before = text.slice(at, found.index);
    for (const sign of before.replace(/\\./g, '')) if (sign === '"') isInside = !isInside;
    quoted += before + (isInside ? found[0] : `"${found[0].replaceAll('"', "'")}"`);
    at = found.index + found[0].length;
  }
  const parsed = tryParseJson(quoted + text.slice(at));
  return parsed === undefined || typeof parsed !== 'object' ? textValue(step, text) : filled(step, parsed, 0);
}

const MAX_DEPTH = 40;

function filled(step: DirectStep, value: JsonValue, depth: number): JsonValue {
  if (typeof value === 'string') return textValue(step, value);
  if (depth > MAX_DEPTH) return null;
  if (isJsonArray(value)) return value.map((each) => filled(step, each, depth + 1));
  if (!isJsonObject(value)) return value;
  const made: { [name: string]: JsonValue } = {};
  for (const [name, each] of Object.entries(value)) setOwn(made, name, filled(step, each ?? null, depth + 1));
  return made;
}

/** Fields of the form that lists of settings have here. */
export function pairsOf(
  step: DirectStep,
  list: JsonValue | undefined,
  names: readonly [string, string],
): { [name: string]: JsonValue } {
  const found: { [name: string]: JsonValue } = {};
  for (const each of arrayOf(list).map(objectOf)) {
    const name = textOf(each[names[0]]);
    if (name !== null) setOwn(found, plainText(name), textValue(step, each[names[1]] ?? ''));
  }
  return found;
}

/** The inside of a template for a reference. */
function pathOf(step: DirectStep, reference: string, own: string | undefined): string {
  const [first = '', ...rest] = namesIn(reference);
  const { history } = contextOf(step);
  switch (first) {
    case 'question':
      return questionIn(step);
    case 'chat_history':
      if (history === null) return MISSING;
      step.approximate(message('import.memory_in_store'));
      return `${history}.turns`;
    case 'current_date_time':
      return 'now';
    case 'runtime_messages_length':
      return lengthSoFar(step);
    case 'output':
      if (own !== undefined) return extend(own, rest[0] === 'content' ? rest.slice(1) : rest);
      break;
    case '$flow':
      return flowValue(step, rest);
    case '$vars': {
      const [name = ''] = rest;
      step.maker.constants.set(name, '');
      step.approximate(message('import.set_constant', { name }));
      return extend('vars', rest);
    }
    case '$form':
      return extend('trigger.data', rest);
    case '$webhook':
      return rest[0] === 'body' ? extend('trigger.data', rest.slice(1)) : extend('trigger.request', rest);
    case '$iteration':
      return iterationItem(step, rest);
    default:
  }
  return step.read(first, rest);
}

/** Where the question is that started the flow. */
export function questionIn(step: DirectStep): string {
  return contextOf(step).isChat ? 'trigger.data.message' : 'trigger.data.question';
}

/** Where it says which conversation it is. */
export function sessionIn(step: DirectStep): string {
  return contextOf(step).isChat ? 'trigger.data.session_id' : 'trigger.data.sessionId';
}

/** `a.b[0]["c d"]` as names. */
function namesIn(reference: string): readonly string[] {
  return [...reference.matchAll(/([^.[\]"'\s]+)|\[\s*"([^"]*)"\s*\]|\[\s*'([^']*)'\s*\]/g)].map(
    ([, plain, double, single]) => plain ?? double ?? single ?? '',
  );
}

function flowValue(step: DirectStep, [name = '', ...rest]: readonly string[]): string {
  if (name === 'state') {
    const [key = '', ...members] = rest;
    const known = step.maker.variables.read(`state ${key}`, step);
    if (known !== null)
      return known
        .split(' ?? ')
        .map((path) => extend(path, members))
        .join(' ?? ');
    step.approximate(message('import.reads_unknown', { node: `$flow.state.${key}` }));
    return MISSING;
  }
  if (name === 'input') return questionIn(step);
  if (name === 'sessionId' || name === 'chatId') return sessionIn(step);
  step.approximate(message('import.member_missing', { member: `$flow.${name}` }));
  return MISSING;
}

/** How many messages there are in the execution so far. */
function lengthSoFar(step: DirectStep): string {
  const counted = answersBefore(step).map((path) => `(${path} == null ? 0 : 1)`);
  return ['1', ...counted].join(' + ');
}

/** The answers of models before a node, as insides of templates. */
export function answersBefore(step: DirectStep): readonly string[] {
  const found: string[] = [];
  for (const [id, made] of step.maker.made) {
    const type = step.maker.flow.origins.get(id)?.type ?? '';
    if (!/^(?:llm|agent)Agentflow$/.test(type)) continue;
    const path = made.read([], step);
    if (path !== null && step.hasRun(path)) found.push(path);
  }
  return found.slice(-MAX_ANSWERS);
}

const MAX_ANSWERS = 20;

function iterationItem(step: DirectStep, names: readonly string[]): string {
  for (
    let parent = step.origin.parent;
    parent !== null;
    parent = step.maker.flow.origins.get(parent)?.parent ?? null
  ) {
    if (step.maker.flow.origins.get(parent)?.type === 'iterationAgentflow')
      return step.read(parent, ['$iteration', ...names]);
  }
  step.approximate(message('import.reads_unknown', { node: '$iteration' }));
  return MISSING;
}

/** A list that a text or a reference stands for: a text with JSON is one, too. */
export function listValue(step: DirectStep, value: JsonValue | undefined): JsonValue {
  const list = jsonOrText(step, value);
  if (typeof list !== 'string') return list;
  const inside = insideOf(list);
  return inside === null
    ? list
    : template(`${inside.includes(' ?? ') ? `(${inside})` : inside} | parse_json`);
}
