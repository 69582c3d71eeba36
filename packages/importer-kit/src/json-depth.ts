import { finishWork, isJsonArray, isJsonObject, type JsonValue, type Work } from '@millrace/engine';

/** Levels beyond these aren't counted: no limit is higher. */
const MOST = 10_000;
/** Values that are looked at between two chances to do something else. */
const AT_ONCE = 1_000;

/** {@link jsonDepthWork} at once. */
export function jsonDepth(value: JsonValue): number {
  return finishWork(jsonDepthWork(value));
}

/** How many levels deep a value is nested. Without recursion, because the depth of a hostile value is what is asked. */
export function* jsonDepthWork(value: JsonValue): Work<number> {
  let level: JsonValue[] = [value];
  let depth = 0;
  let seen = 0;
  while (level.length > 0 && depth < MOST) {
    depth += 1;
    const below: JsonValue[] = [];
    for (const item of level) {
      const members = isJsonArray(item) ? item : isJsonObject(item) ? Object.values(item) : [];
      for (const member of members) below.push(member ?? null);
      seen += 1;
      if (seen % AT_ONCE === 0) yield AT_ONCE;
    }
    level = below;
  }
  return depth;
}
