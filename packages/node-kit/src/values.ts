import {
  type ConfigFault,
  canonicalJson,
  isJsonArray,
  isJsonObject,
  isNumber,
  type JsonValue,
  joinPointer,
  type Meter,
  stringifyJson,
  type Work,
} from '@millrace/engine';
import { type Message, message, verbatim } from '@millrace/messages';

/** The user-facing name of the value's type: null, a text, a number, a boolean, a list or an object. */
export function typeName(value: JsonValue): Message {
  if (value === null) return verbatim('null');
  if (isNumber(value)) return message('nodes.type_number');
  if (typeof value === 'string') return message('nodes.type_text');
  if (typeof value === 'boolean') return message('nodes.type_boolean');
  return isJsonArray(value) ? message('nodes.type_list') : message('nodes.type_object');
}

/** Whether a value is empty: null, blank text, a list or object of nothing. */
export function isBlank(value: JsonValue): boolean {
  if (value === null) return true;
  if (typeof value === 'string') return value.trim() === '';
  if (isJsonArray(value)) return value.every(isBlank);
  return isJsonObject(value) && Object.values(value).every(isBlank);
}

/** A string, number or boolean as text; undefined for null, lists and objects. */
export function scalarText(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return isNumber(value) ? stringifyJson(value) : undefined;
}

/** A fault with the given message at each string of a value that contains a template. */
export function templatesIn(value: JsonValue, said: Message, pointer = ''): ConfigFault[] {
  if (typeof value === 'string') return value.includes('{{') ? [{ pointer, message: said }] : [];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) =>
    templatesIn(member, said, joinPointer(pointer, name)),
  );
}

/** Same type and same content, through lists and objects; numbers by exact value, member order doesn't matter. */
export function deepEquals(left: JsonValue, right: JsonValue, meter: Meter): boolean | Work<boolean> {
  const pairs: Pair[] = [];
  if (!sameShape(left, right, pairs, meter)) return false;
  return pairs.length === 0 || allSame(pairs, meter);
}

type Pair = readonly [JsonValue, JsonValue];

/** An explicit stack: a response nested thousands of levels deep must not exhaust the call stack. */
function* allSame(pairs: Pair[], meter: Meter): Work<boolean> {
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    if (!sameShape(pair[0], pair[1], pairs, meter)) return false;
    meter.spend(1);
    if (meter.isDue) yield meter.take();
  }
  return true;
}

/** Compares one level and pushes the pairs of the next level onto the stack. */
function sameShape(left: JsonValue, right: JsonValue, pairs: Pair[], meter: Meter): boolean {
  if (typeof left === 'string') meter.spendText(left.length);
  if (left === right) return true;
  if (isJsonArray(left)) {
    if (!isJsonArray(right) || left.length !== right.length) return false;
    for (const [index, member] of left.entries()) pairs.push([member, right[index] ?? null]);
    return true;
  }
  if (isJsonObject(left)) {
    if (!isJsonObject(right)) return false;
    const keys = Object.keys(left);
    if (keys.length !== Object.keys(right).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(right, key)) return false;
      pairs.push([left[key] ?? null, right[key] ?? null]);
    }
    return true;
  }
  return isNumber(left) && isNumber(right) && canonicalJson(left) === canonicalJson(right);
}
