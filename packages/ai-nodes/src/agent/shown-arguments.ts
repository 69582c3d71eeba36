import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, setOwn } from '@millrace/engine';

/** Stands for what a person who decides isn't shown. */
export const MASK = '***';
/** A longer call can't be judged by a person, and doesn't fit into a field. */
export const MAX_SHOWN_CHARS = 8_000;

const SECRET_NAME =
  /(?:^|_)(?:pass(?:word|wd|phrase|code)?|pwd|secrets?|token|api_?key|private_key|access_key|authorization|cookie|credentials?|otp|pin|cvv|cvc)(?:$|_)/;

/** Characters that a reader can't see, or that change the order of those around them: a text must not look like another one. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Arguments as a person sees them: without what its name or its schema says is secret. */
export function maskArguments(args: JsonObject, schema: JsonValue | undefined): JsonObject {
  return mask(args, schema ?? null) as JsonObject;
}

function mask(value: JsonValue, schema: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map((item) => mask(item, memberOf(schema, 'items')));
  if (!isJsonObject(value)) return value;
  const shown: { [name: string]: JsonValue } = {};
  for (const [name, member] of Object.entries(value)) {
    const rule = memberOf(memberOf(schema, 'properties'), name);
    const isSecret = member !== null && (hasSecretName(name) || isMarked(rule));
    setOwn(shown, name, isSecret ? MASK : mask(member, rule));
  }
  return shown;
}

function hasSecretName(name: string): boolean {
  return SECRET_NAME.test(
    name
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replaceAll(/[^A-Za-z0-9]+/g, '_')
      .toLowerCase(),
  );
}

function isMarked(schema: JsonValue): boolean {
  return isJsonObject(schema) && (schema.writeOnly === true || schema.format === 'password');
}

function memberOf(value: JsonValue, name: string): JsonValue {
  return isJsonObject(value) && Object.hasOwn(value, name) ? (value[name] ?? null) : null;
}

/** As text that is still JSON, with everything that can't be seen written out. */
export function writeArguments(args: JsonObject): string {
  return JSON.stringify(args, null, 2).replaceAll(UNSEEN, (unseen) =>
    unseen === '\n' ? unseen : escapeUnits(unseen),
  );
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const unit = character.charCodeAt(index).toString(16).padStart(4, '0');
    return `\\u${unit}`;
  }).join('');
}

/** A text of the model in a question, with everything that can't be seen left out. */
export function cleanText(text: string): string {
  return text.replaceAll(UNSEEN, (unseen) => (unseen === '\n' || unseen === '\t' ? unseen : ''));
}

/** Changed arguments with what was masked in them put back, where it is still in its place. */
export function unmaskArguments(changed: JsonValue, original: JsonValue): JsonValue {
  if (typeof changed === 'string') return changed.includes(MASK) ? original : changed;
  if (isJsonArray(changed)) {
    return changed.map((item, index) =>
      unmaskArguments(item, isJsonArray(original) ? (original[index] ?? null) : item),
    );
  }
  if (!isJsonObject(changed)) return changed;
  const whole: { [name: string]: JsonValue } = {};
  for (const [name, member] of Object.entries(changed)) {
    const isKnown = isJsonObject(original) && Object.hasOwn(original, name);
    setOwn(whole, name, isKnown ? unmaskArguments(member, original[name] ?? null) : member);
  }
  return whole;
}
