import { isJsonArray, isRawNumber, type JsonObject, type JsonValue } from '@millrace/engine';

/** Recursion limit; deeper values are used as received. */
const MAX_DEPTH = 500;

/**
 * Structural sharing: reuses the unchanged parts of the previous value, so that they keep their identity and don't
 * re-render. The query client's own version treats a number beyond double precision as an object and copies it into
 * `{"rawJSON": ...}`.
 */
export function shareExactly(former: unknown, read: unknown): unknown {
  return share(former as JsonValue | undefined, read as JsonValue, 0);
}

function share(former: JsonValue | undefined, read: JsonValue, depth: number): JsonValue {
  if (Object.is(former, read) || former === undefined || depth > MAX_DEPTH) return read;
  if (isRawNumber(former) || isRawNumber(read)) {
    return isRawNumber(former) && isRawNumber(read) && former.rawJSON === read.rawJSON ? former : read;
  }
  if (isJsonArray(former) && isJsonArray(read)) {
    const items = read.map((item, at) => share(former[at], item, depth + 1));
    const isSame = items.length === former.length && items.every((item, at) => Object.is(item, former[at]));
    return isSame ? former : items;
  }
  if (!isPlain(former) || !isPlain(read)) return read;
  const names = Object.keys(read);
  const members = names.map((name): [string, JsonValue] => [
    name,
    share(Object.hasOwn(former, name) ? former[name] : undefined, read[name] as JsonValue, depth + 1),
  ]);
  const isSame =
    names.length === Object.keys(former).length &&
    members.every(([name, member]) => Object.hasOwn(former, name) && Object.is(member, former[name]));
  return isSame ? former : Object.fromEntries(members);
}

/** A plain JSON object, not a Date, for example, from a query that returns something else. */
function isPlain(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
