import {
  type JsonObject,
  type JsonValue,
  parseDecimal,
  parseJson,
  ServiceError,
  type SqlService,
  setOwn,
  tryParseJson,
} from '@millrace/engine';
import { message } from '@millrace/messages';

export type SqlAnswer = Awaited<ReturnType<SqlService['query']>>;

/** Maximum bytes of one result as the server sends it: anything larger wouldn't be a valid node output either. */
const MAX_RESULT_BYTES = 16 * 1024 * 1024;

/** Counts the bytes of a result. @throws ServiceError `sql_result_too_large` */
export class ByteMeter {
  #bytes = 0;

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= MAX_RESULT_BYTES) return;
    throw new ServiceError(
      'sql_result_too_large',
      message('ports.rows_too_large', { max: MAX_RESULT_BYTES }),
    );
  }
}

/** Column names, made unique: a second `id` becomes `id_2`, because an object has each name only once. */
export function columnNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>(names);
  const used = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let count = 2; used.has(unique) || (unique !== name && taken.has(unique)); count += 1) {
      unique = `${name}_${count}`;
    }
    used.add(unique);
    return unique;
  });
}

/** A row as an object; a column may have any name, even `__proto__`. */
export function rowObject(names: readonly string[], values: readonly JsonValue[]): JsonObject {
  const row: { [name: string]: JsonValue } = {};
  for (const [index, name] of names.entries()) setOwn(row, name, values[index] ?? null);
  return row;
}

/** A decimal number without loss: exact if it doesn't fit in a double; NaN and infinity are text. */
export function exactNumber(text: string): JsonValue {
  return parseDecimal(text) === null ? text : parseJson(text);
}

/** A column's JSON without loss; text if it is nested too deeply to parse. */
export function jsonValue(text: string): JsonValue {
  const value = tryParseJson(text);
  return value === undefined ? text : value;
}

/** The shortest number that is the same float: 0.1, not 0.10000000149011612. */
export function shortFloat(value: number): number {
  for (let digits = 1; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}
