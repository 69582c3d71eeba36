import { canonicalJson, isJsonArray, isRawNumber, type JsonObject, type JsonValue } from './json.ts';
import { type Meter, stepsToRead, type Work } from './work.ts';

/** Values that take fewer steps are written at once. */
const SMALL = 1_000;

/** {@link canonicalJson} in pieces. */
export function* canonicalWork(value: JsonValue, meter: Meter): Work<string> {
  const steps = stepsToRead(value, SMALL);
  meter.spend(steps);
  if (meter.isDue) yield meter.take();
  if (steps < SMALL || value === null || typeof value !== 'object' || isRawNumber(value)) {
    return canonicalJson(value);
  }
  const parts: string[] = [];
  if (isJsonArray(value)) {
    for (const item of value) parts.push(yield* partOf(item, meter));
    return `[${parts.join(',')}]`;
  }
  const object = value as JsonObject;
  for (const name of Object.keys(object).sort((a, b) => (a < b ? -1 : 1))) {
    parts.push(`${JSON.stringify(name)}:${yield* partOf(object[name] ?? null, meter)}`);
  }
  return `{${parts.join(',')}}`;
}

function* partOf(value: JsonValue, meter: Meter): Work<string> {
  if (value !== null && typeof value === 'object') return yield* canonicalWork(value, meter);
  meter.spend(stepsToRead(value, SMALL));
  if (meter.isDue) yield meter.take();
  return canonicalJson(value);
}
