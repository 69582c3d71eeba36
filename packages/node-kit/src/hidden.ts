import {
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  setOwn,
} from '@millrace/engine';

/** Replaces secrets. */
export const HIDDEN = '[hidden]';

/** A shorter secret would hide harmless text everywhere. */
const SHORTEST = 6;

/** The value with every occurrence of a secret in its strings and member names hidden. */
export function hideSecrets(value: JsonValue, secrets: readonly string[]): JsonValue {
  const known = worthHiding(secrets);
  return known.length === 0 ? value : hide(value, known);
}

/** The string with every occurrence of a secret hidden. */
export function hideInText(text: string, secrets: readonly string[]): string {
  return replaceAll(text, worthHiding(secrets));
}

/** Longest first, because one may be part of another. */
function worthHiding(secrets: readonly string[]): readonly string[] {
  return secrets
    .filter((secret) => secret.length >= SHORTEST)
    .toSorted((left, right) => right.length - left.length);
}

function replaceAll(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);
}

function hide(value: JsonValue, secrets: readonly string[]): JsonValue {
  if (typeof value === 'string') return replaceAll(value, secrets);
  if (isJsonArray(value)) return value.map((item) => hide(item, secrets));
  if (!isJsonObject(value) || isRawNumber(value)) return value;
  const shown: { [name: string]: JsonValue } = {};
  for (const [name, item] of Object.entries(value as JsonObject)) {
    setOwn(shown, replaceAll(name, secrets), hide(item, secrets));
  }
  return shown;
}
