import { type Message, message } from '@millrace/messages';

/** Minimum and maximum length of names, not counting white space at their ends. */
const NAME_LENGTH = [1, 255] as const;

/** What may surround a joiner: emoji, and scripts written with joiners. */
const JOINED = String.raw`[\u0600-\u0DFF\u1000-\u109F\u1780-\u18AF\u2190-\u2BFF\uFE0F\u{1F000}-\u{1FAFF}]`;
/**
 * Anything invisible, or that breaks the line or reverses its surroundings (Unicode TR 36, 2.10): two different names would
 * look the same. Variation selectors belong to the character before them, joiners to those around them.
 */
const HIDDEN =
  String.raw`[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\0\u200C\u200D\u180B-\u180D\u180F\uFE00-\uFE0F\u{E0100}-\u{E01EF}]]` +
  `|(?<!${JOINED})[\\u200C\\u200D]|[\\u200C\\u200D](?!${JOINED})`;
const HAS_HIDDEN = new RegExp(HIDDEN, 'v');
/** Plus what no stored text may contain, which is refused elsewhere. */
const UNWANTED = new RegExp(String.raw`${HIDDEN}|[\0\p{Cs}]`, 'gv');

/** What is wrong with a name; null if nothing is. */
export function findNameProblem(
  text: string,
  [least, most]: readonly [number, number] = NAME_LENGTH,
): { readonly code: 'invalid_length' | 'hidden_character'; readonly message: Message } | null {
  const name = text.trim();
  const { length } = [...name];
  if (length < least || length > most) {
    return { code: 'invalid_length', message: message('identity.name_length', { min: least, max: most }) };
  }
  const [hidden] = HAS_HIDDEN.exec(name) ?? [];
  if (hidden === undefined) return null;
  return {
    code: 'hidden_character',
    message: message('identity.name_hidden', { character: codePoint(hidden) }),
  };
}

/** A name from elsewhere, which nobody can be asked to fix: hidden characters become spaces. */
export function cleanName(text: string): string {
  const name = text.replaceAll(UNWANTED, ' ').trim();
  return [...name].slice(0, NAME_LENGTH[1]).join('').trim();
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
