import type { en } from './en.ts';

type Texts = typeof en;
type WithoutPlural<Key> = Key extends `${infer Base}_one` | `${infer Base}_other` ? Base : Key;

/** `<part>.<name>`: which sentence. Parts are the files in `en/` and `ja/`. */
export type MessageKey = {
  [Part in keyof Texts]: `${Part}.${WithoutPlural<keyof Texts[Part] & string>}`;
}[keyof Texts];

/** What fills a text's `{{name}}`. A message is rendered in the reader's language, everything else stays as it is. */
export type MessageParam = string | number | Message | readonly Message[];
export type MessageParams = { readonly [name: string]: MessageParam };

/** A sentence that is not made yet: which one, and what to fill in. Plain JSON, fit to be stored. */
export type Message = {
  readonly key: MessageKey;
  readonly params?: MessageParams;
};

/**
 * Names a sentence. Give the key as a literal and the parameters as an object literal: a test reads both in the sources
 * and compares them with the texts.
 */
export function message(key: MessageKey, params?: MessageParams): Message {
  return params === undefined ? { key } : { key, params };
}

/** What another system or a person said, word for word. */
export function verbatim(text: string): Message {
  return message('run.verbatim', { text });
}

/** Whether a value is a message, whatever its key: another version of the service may have stored it. */
export function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && 'key' in value && typeof value.key === 'string';
}

/** A message as it was stored. Earlier versions stored the English sentence itself. */
export function readMessage(stored: unknown): Message {
  return isMessage(stored)
    ? stored
    : verbatim(typeof stored === 'string' ? stored : JSON.stringify(stored ?? ''));
}

/** The message with every text among its parameters changed: shortened, or without a secret. */
export function mapTexts(said: Message, change: (text: string) => string): Message {
  const map = (param: MessageParam): MessageParam => {
    if (typeof param === 'string') return change(param);
    if (typeof param !== 'object') return param;
    return 'key' in param ? mapTexts(param, change) : param.map((each) => mapTexts(each, change));
  };
  if (said.params === undefined) return said;
  const params = Object.entries(said.params).map(([name, param]) => [name, map(param)] as const);
  return { key: said.key, params: Object.fromEntries(params) };
}
