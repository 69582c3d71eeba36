import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';

/** What stands where a secret was. */
export const REMOVED = 'REMOVED_SECRET';

/** Texts that are keys of well-known services, wherever they stand. */
const KEYS =
  /\b(?:sk-[A-Za-z0-9_-]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|glpat-[\w-]{20,}|AKIA[0-9A-Z]{16}|AIza[\w-]{35}|SG\.[\w-]{16,}\.[\w-]{16,}|(?:pk|sk|rk)_live_\w{16,}|\d{8,10}:AA[\w-]{32,34}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})/g;
const SECRET_NAME =
  /^(?:authorization|(?:x-)?api[-_]?key|apikey|access[-_]?token|token|secret|client[-_]?secret|password|x-auth-token|private[-_]?key)$/i;

/** A value without the secrets that were written into it, and whether there were any. Credentials themselves aren't part of exports. */
export function withoutSecrets(value: JsonObject): { readonly value: JsonObject; readonly found: boolean } {
  let found = false;
  const clean = (item: JsonValue): JsonValue => {
    if (typeof item === 'string') {
      const kept = item.length > 1_000_000 ? item : item.replace(KEYS, REMOVED);
      if (kept !== item) found = true;
      return kept;
    }
    if (isJsonArray(item)) return item.map(clean);
    return isJsonObject(item) ? object(item) : item;
  };
  const object = (item: JsonObject): JsonObject => {
    const { name, value: given } = item;
    const isSecret = typeof name === 'string' && SECRET_NAME.test(name) && isWritten(given);
    const members = Object.entries(item).map(([key, member]): [string, JsonValue] => {
      const isOne = (isSecret && key === 'value') || (SECRET_NAME.test(key) && isWritten(member));
      if (!isOne) return [key, clean(member ?? null)];
      found = true;
      return [key, REMOVED];
    });
    return Object.fromEntries(members);
  };
  return { value: object(value), found };
}

/** Whether a value is a text of some length, not an expression that takes it from elsewhere. */
function isWritten(value: JsonValue | undefined): boolean {
  return (
    typeof value === 'string' &&
    value.length >= 8 &&
    !value.includes('{{') &&
    !/^[<{[(]|your|xxx|\*\*\*/i.test(value)
  );
}
