import { en } from './en.ts';
import {
  type Message,
  type MessageKey,
  type MessageParam,
  type MessageParams,
  readMessage,
} from './message.ts';

type Table = { readonly [name: string]: string };
const TEXTS: { readonly [part: string]: Table } = en;

/** `{{name}}`, or `{{name, list(type: conjunction)}}` for a list of messages. */
const PLACEHOLDER = /\{\{(\w+)(?:, list\(type: (conjunction|disjunction)\))?\}\}/g;
type ListType = 'conjunction' | 'disjunction';

/**
 * The English sentence; earlier versions stored finished sentences, which are returned as is. Renders what i18next renders from the same
 * texts; a test compares the two.
 */
export function inEnglish(said: Message | string): string {
  if (typeof said === 'string') return said;
  const { key, params = {} } = said;
  const [part = '', name = ''] = key.split('.', 2);
  const text = Object.hasOwn(TEXTS, part) ? textFor(TEXTS[part] ?? {}, name, params) : undefined;
  // Stored by a later version: the key is better than nothing.
  if (text === undefined) return key;
  return text.replaceAll(PLACEHOLDER, (_, param: string, list: ListType | undefined) =>
    Object.hasOwn(params, param) ? renderParam(params[param] ?? '', list) : '',
  );
}

function textFor(table: Table, name: string, { count }: MessageParams): string | undefined {
  const plural = `${name}_${count === 1 ? 'one' : 'other'}`;
  return Object.hasOwn(table, plural) ? table[plural] : Object.hasOwn(table, name) ? table[name] : undefined;
}

function renderParam(param: MessageParam, list: ListType = 'conjunction'): string {
  if (typeof param !== 'object') return String(param);
  if ('key' in param) return inEnglish(param);
  return new Intl.ListFormat('en', { type: list }).format(param.map(inEnglish));
}

/** For the admin area: the English, and its message and parameters, so that the page can render it in the reader's language. */
export function presentMessage(stored: Message | string): {
  message: string;
  key: MessageKey;
  params: MessageParams;
} {
  const said = readMessage(stored);
  return { message: inEnglish(said), key: said.key, params: said.params ?? {} };
}
