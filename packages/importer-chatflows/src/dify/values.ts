import { isJsonArray, isJsonObject, type JsonValue, tryParseJson } from '@millrace/engine';
import { endsInString } from '@millrace/importer-kit/json-text';
import { extend, literal, literalValue, MISSING, quote, template } from '@millrace/importer-kit/refs';
import { asText } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import type { DirectStep, Maker } from '../direct/maker.ts';
import type { DifyApp } from './read.ts';

/** What nodes of one app share while they are made. */
export interface DifyContext {
  readonly app: DifyApp;
  readonly maker: Maker;
  /** Begins the names of its entries in the data store. */
  readonly key: string;
}

const contexts = new WeakMap<Maker, DifyContext>();

export function setContext(context: DifyContext): void {
  contexts.set(context.maker, context);
}

export function contextOf(step: DirectStep): DifyContext {
  const context = contexts.get(step.maker);
  if (context === undefined) throw new Error('a step of Dify has no context');
  return context;
}

const REFERENCE = /\{\{#([\w-]+(?:\.[^#{}.\s]+)*)#\}\}/g;

/** A text with references as a template. */
export function textValue(step: DirectStep, value: JsonValue | undefined, context?: string): string {
  const text = asText(value);
  let at = 0;
  let made = '';
  for (const found of text.matchAll(REFERENCE)) {
    made +=
      literal(text.slice(at, found.index)) + template(pathOf(step, (found[1] ?? '').split('.'), context));
    at = found.index + found[0].length;
  }
  return made + literal(text.slice(at));
}

/** Any value in which texts may have references. */
export function anyValue(step: DirectStep, value: JsonValue | undefined): JsonValue {
  if (typeof value === 'string') return textValue(step, value);
  if (value === undefined) return null;
  if (isJsonArray(value)) return value.map((each) => anyValue(step, each));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, anyValue(step, each)]));
}

/** The names of a selector: `["node", "text"]`; null if it isn't one. */
export function namesIn(selector: JsonValue | undefined): readonly string[] | null {
  if (selector === undefined || !isJsonArray(selector) || selector.length === 0) return null;
  return selector.every((name) => typeof name === 'string') ? (selector as readonly string[]) : null;
}

/** What a selector finds, as the inside of a template; a path that finds nothing if it isn't a selector. */
export function selected(step: DirectStep, selector: JsonValue | undefined): string {
  const names = namesIn(selector);
  return names === null ? MISSING : pathOf(step, names);
}

/** The inside of a template for a reference. */
export function pathOf(step: DirectStep, [first = '', ...rest]: readonly string[], context?: string): string {
  if (rest.length === 0) {
    if (first === 'context' && context !== undefined) return context;
    step.approximate(message('import.reads_unknown', { node: first }));
    return MISSING;
  }
  const [name = '', ...members] = rest;
  // Older exports name the node that starts the app: `start`, `sys.query`.
  if (name.startsWith('sys.')) return systemValue(step, name.slice(4), members);
  switch (first) {
    case 'sys':
      return systemValue(step, name, members);
    case 'env': {
      if (contextOf(step).app.environment.some((each) => each.name === name)) {
        step.maker.constants.set(name, environmentValue(step, name));
        return extend('vars', [name, ...members]);
      }
      step.approximate(message('import.reads_unknown', { node: `env.${name}` }));
      return MISSING;
    }
    case 'conversation':
      return variableValue(step, name, members);
    default:
      return step.read(first, rest);
  }
}

/** Secrets aren't in exports; they are entered as constants, or better as credentials. */
function environmentValue(step: DirectStep, name: string): JsonValue {
  const variable = contextOf(step).app.environment.find((each) => each.name === name);
  if (variable === undefined || variable.type === 'secret') {
    step.approximate(message('import.set_constant', { name }));
    return '';
  }
  return literalValue(variable.value);
}

/** What a message of the chat has, by the names of Dify. */
const OF_CHAT: { readonly [name: string]: string } = {
  query: 'trigger.data.message',
  conversation_id: 'trigger.data.session_id',
  dialogue_count: 'trigger.data.number - 1',
};

function systemValue(step: DirectStep, name: string, members: readonly string[]): string {
  const { isChat } = contextOf(step).app;
  if (isChat && Object.hasOwn(OF_CHAT, name)) return OF_CHAT[name] ?? MISSING;
  switch (name) {
    case 'query':
    case 'conversation_id':
      return extend('trigger.data', [name, ...members]);
    case 'files':
      if (isChat) break;
      return extend('trigger.data', [name, ...members]);
    case 'user_id':
      if (!isChat) return 'trigger.data.user';
      step.approximate(message('import.visitor_unknown'));
      return 'trigger.data.session_id';
    case 'workflow_run_id':
      return 'execution.id';
    case 'dialogue_count':
      return '0';
    case 'timestamp':
      return 'now | date: "unix"';
    default:
  }
  step.approximate(message('import.member_missing', { member: `sys.${name}` }));
  return MISSING;
}

/** The current value of a variable of the conversation. */
export function variableValue(step: DirectStep, name: string, members: readonly string[] = []): string {
  const known = step.maker.variables.read(`conversation ${name}`, step);
  const variable = contextOf(step).app.conversation.find((each) => each.name === name);
  if (variable === undefined && known === null) {
    step.approximate(message('import.reads_unknown', { node: `conversation.${name}` }));
    return MISSING;
  }
  if (known === null) return MISSING;
  return known
    .split(' ?? ')
    .map((path) => (path.startsWith('nodes.') ? extend(path, members) : path))
    .join(' ?? ');
}

/** A constant as it is written in an expression; null for lists and objects. */
export function constantIn(value: JsonValue): string | null {
  if (typeof value === 'string') return quote(value);
  return value === null || typeof value === 'number' || typeof value === 'boolean'
    ? JSON.stringify(value)
    : null;
}

/** Deeper JSON stays text. */
const MAX_DEPTH = 40;

/**
 * JSON in a text, with references anywhere in it, as a value with templates: references outside of quotes keep their type, and those inside become
 * text, so that a quote in the data can't break it. Undefined if it isn't JSON.
 */
export function jsonValue(step: DirectStep, text: string): JsonValue | undefined {
  let quoted = '';
  let isInside = false;
  let at = 0;
  for (const found of text.matchAll(REFERENCE)) {
    const before = text.slice(at, found.index);
    isInside = endsInString(before, isInside);
    quoted += before + (isInside ? found[0] : `"${found[0]}"`);
    at = found.index + found[0].length;
  }
  quoted += text.slice(at);
  const parsed = tryParseJson(quoted);
  if (parsed === undefined || !isShallow(parsed, MAX_DEPTH)) return undefined;
  return anyValue(step, parsed);
}

function isShallow(value: JsonValue, levels: number): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (levels === 0) return false;
  return Object.values(value).every((each) => isShallow((each ?? null) as JsonValue, levels - 1));
}
