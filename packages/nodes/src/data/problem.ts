import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Meter,
  mapWork,
  type Work,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { typeName } from '@millrace/node-kit/values';

/** Data that a step can't process; the explanation is the end of a sentence that names the step. */
export class DataProblem extends NodeProblem {
  constructor(explanation: Message) {
    super(explanation, 'invalid_data');
  }
}

/** @throws DataProblem when it isn't a list */
export function listOf(data: JsonValue): readonly JsonValue[] {
  if (isJsonArray(data)) return data;
  throw new DataProblem(message('nodes.needs_list', { given: typeName(data) }));
}

/** Applies a function to each item of a list, or to data of any other kind. */
export function* eachItem(
  data: JsonValue,
  meter: Meter,
  change: (item: JsonValue, where: Message) => JsonValue,
): Work<JsonValue> {
  if (isJsonArray(data)) return yield* mapWork(data, meter, (item, index) => change(item, itemAt(index)));
  return change(data, message('nodes.the_data'));
}

/**
 * Applies a function to each object of a list, or to one object.
 * @throws DataProblem when an item isn't an object
 */
export function eachObject(
  data: JsonValue,
  meter: Meter,
  change: (object: JsonObject, where: Message) => JsonValue,
): Work<JsonValue> {
  return eachItem(data, meter, (item, where) => change(objectAt(item, where), where));
}

/** @throws DataProblem when it isn't an object */
export function objectAt(item: JsonValue, where: Message): JsonObject {
  if (isJsonObject(item)) return item;
  throw new DataProblem(message('nodes.needs_objects', { where, given: typeName(item) }));
}

/** The position of a list item, for messages. */
export function itemAt(index: number): Message {
  return message('nodes.the_item', { index });
}

/** A field at that position. */
export function fieldOf(field: string, whole: Message): Message {
  return field === '' ? whole : message('nodes.the_field', { field, whole });
}

/** Describes a value of an unexpected type. */
export function describeMismatch(value: JsonValue, wanted: 'date' | 'number'): Message {
  if (typeof value !== 'string') return typeName(value);
  return wanted === 'date' ? message('nodes.text_not_date') : message('nodes.text_not_number');
}
