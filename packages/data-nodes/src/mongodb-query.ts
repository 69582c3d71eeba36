import { isJsonObject, isRawNumber, type JsonObject, type JsonValue, setOwn } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';

/** Members of extended JSON, which are values and no operators. */
const VALUES = new Set([
  '$oid',
  '$date',
  '$numberInt',
  '$numberLong',
  '$numberDouble',
  '$numberDecimal',
  '$binary',
  '$uuid',
  '$timestamp',
  '$minKey',
  '$maxKey',
]);
/** Operators that run JavaScript on the server. */
const CODE = new Set(['$where', '$function', '$accumulator', '$code', '$scope']);
/** Stages of a pipeline that write. */
const WRITES = new Set(['$out', '$merge']);

/** A setting that can't be used. */
export class QueryProblem extends Error {
  readonly explanation: Message;
  constructor(explanation: Message) {
    super('the query cannot be used');
    this.explanation = explanation;
  }
}

/**
 * Fills in the templates of a query. What a template gives may be a value, also a list or an object, but no operator: `{"$ne": null}` from
 * a form would otherwise be a condition.
 * @throws QueryProblem
 */
export function fillIn(template: JsonValue, render: (text: string) => JsonValue, setting: string): JsonValue {
  if (typeof template === 'string') {
    const value = render(template);
    if (typeof value !== 'string') refuseOperators(value, setting);
    return value;
  }
  if (Array.isArray(template)) return (template as JsonValue[]).map((each) => fillIn(each, render, setting));
  if (typeof template !== 'object' || template === null || isRawNumber(template)) return template;
  const filled: { [name: string]: JsonValue } = {};
  for (const [name, member] of Object.entries(template as JsonObject)) {
    if (CODE.has(name))
      throw new QueryProblem(message('nodes.mongodb_forbidden', { setting, operator: name }));
    setOwn(filled, name, fillIn(member, render, setting));
  }
  return filled;
}

function refuseOperators(value: JsonValue, setting: string): void {
  if (Array.isArray(value)) for (const each of value as JsonValue[]) refuseOperators(each, setting);
  else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (name.startsWith('$') && !VALUES.has(name)) {
        throw new QueryProblem(message('nodes.mongodb_operator', { setting, operator: name }));
      }
      refuseOperators(member, setting);
    }
  }
}

/** @throws QueryProblem */
export function objectIn(value: JsonValue, setting: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw new QueryProblem(message('nodes.mongodb_shape', { setting, shape: 'an object' }));
}

/** @throws QueryProblem */
export function objectsIn(value: JsonValue, setting: string): readonly JsonObject[] {
  if (Array.isArray(value)) return (value as JsonValue[]).map((each) => objectIn(each, setting));
  throw new QueryProblem(message('nodes.mongodb_shape', { setting, shape: 'a list of objects' }));
}

/** The first stage that writes, also within others. */
export function writingStage(pipeline: JsonValue): string | null {
  if (Array.isArray(pipeline)) {
    for (const each of pipeline as JsonValue[]) {
      const found = writingStage(each);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isJsonObject(pipeline)) return null;
  for (const [name, member] of Object.entries(pipeline)) {
    if (WRITES.has(name)) return name;
    const found = writingStage(member);
    if (found !== null) return found;
  }
  return null;
}
