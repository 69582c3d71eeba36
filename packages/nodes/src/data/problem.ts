import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { typeName } from '../values.ts';

/** Data a step cannot work on; the message is the end of a sentence that names the step. */
export class DataProblem extends Error {
  override readonly name = 'DataProblem';
}

/** @throws DataProblem when it is no list */
export function listOf(data: JsonValue): readonly JsonValue[] {
  if (isJsonArray(data)) return data;
  throw new DataProblem(`needs a list, but has ${articleOf(data)}`);
}

/**
 * Does the same to each object of a list, or to one object.
 * @throws DataProblem when anything in it is no object
 */
export function eachObject(
  data: JsonValue,
  change: (object: JsonObject, where: string) => JsonValue,
): JsonValue {
  const changed = (item: JsonValue, where: string): JsonValue => {
    if (isJsonObject(item)) return change(item, where);
    throw new DataProblem(`needs objects, but ${where} is ${articleOf(item)}`);
  };
  if (isJsonArray(data)) return data.map((item, index) => changed(item, `item ${index}`));
  return changed(data, 'the data');
}

/** `a text`, `an object`, `null`. */
export function articleOf(value: JsonValue): string {
  const name = typeName(value);
  if (name === 'null') return name;
  return name === 'object' ? `an ${name}` : `a ${name}`;
}
