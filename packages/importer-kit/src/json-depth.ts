import { isJsonArray, isJsonObject, type JsonValue } from '@millrace/engine';

/** Levels beyond these aren't counted: no limit is higher. */
const MOST = 10_000;

/** How many levels deep a value is nested. Without recursion, because the depth of a hostile value is what is asked. */
export function jsonDepth(value: JsonValue): number {
  let level: readonly JsonValue[] = [value];
  let depth = 0;
  while (level.length > 0 && depth < MOST) {
    depth += 1;
    level = level.flatMap((item) =>
      isJsonArray(item) ? item : isJsonObject(item) ? Object.values(item).map((each) => each ?? null) : [],
    );
  }
  return depth;
}
