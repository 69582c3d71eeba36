import type { en } from './en.ts';

type Texts = typeof en;
type WithoutPlural<Key> = Key extends `${infer Base}_one` | `${infer Base}_other` ? Base : Key;

/** `<part>.<name>` of a sentence. Parts are the files in `en/` and `ja/`. */
export type MessageKey = {
  [Part in keyof Texts]: `${Part}.${WithoutPlural<keyof Texts[Part] & string>}`;
}[keyof Texts];

/** What replaces `{{name}}` in a text. Messages are rendered in the reader's language, everything else stays as it is. */
export type MessageParam = string | number | Message | readonly Message[];
export type MessageParams = { readonly [name: string]: MessageParam };

/** A sentence before rendering: its key and its parameters. Plain JSON, so that it can be stored. */
export type Message = {
  readonly key: MessageKey;
  readonly params?: MessageParams;
};

/**
 * References a sentence. Pass the key as a literal and the parameters as an object literal: a test reads both in the sources and compares
 * them with the texts.
 */
export function message(key: MessageKey, params?: MessageParams): Message {
  return params === undefined ? { key } : { key, params };
}

/** The words of another system or a person, verbatim. */
export function verbatim(text: string): Message {
  return message('run.verbatim', { text });
}

/** Whether a value is a message, whatever its key: another version of the service may have stored it. */
export function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && 'key' in value && typeof value.key === 'string';
}

/** A message as it was stored. Earlier versions stored the English sentence itself. */
export function readMessage(stored: unknown): Message {
  return isMessage(stored) ? stored : verbatim(typeof stored === 'string' ? stored : '');
}

/** The message with every string among its parameters mapped: shortened, or with a secret removed. */
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
