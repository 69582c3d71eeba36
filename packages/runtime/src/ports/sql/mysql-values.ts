import { isRawNumber, type JsonValue, stringifyJson } from '@millrace/engine';
import { exactNumber, jsonValue } from './result.ts';

/** What is known of a column (MySQL, "Column Definition Packet"). */
export interface MysqlColumn {
  readonly name: string;
  readonly columnType?: number;
  readonly type?: number;
  readonly decimals?: number;
  /** MariaDB, "Extended metadata": `json` for what is a text to it otherwise. */
  readonly extendedFormat?: string;
}

const TYPE = {
  decimal: 0,
  float: 4,
  timestamp: 7,
  bigint: 8,
  datetime: 12,
  bit: 16,
  json: 245,
  newDecimal: 246,
};

/** A value as the driver reads it, as JSON: exact numbers, ISO dates, bytes as base64. */
export function readMysqlValue(column: MysqlColumn, value: unknown): JsonValue {
  if (value === null || value === undefined) return null;
  const type = column.columnType ?? column.type;
  if (Buffer.isBuffer(value)) return type === TYPE.bit ? bitNumber(value) : value.toString('base64');
  if (typeof value === 'number') return type === TYPE.float ? shortFloat(value) : value;
  if (typeof value === 'bigint') return exactNumber(String(value));
  if (typeof value !== 'string') return jsonValue(JSON.stringify(value) ?? 'null');
  if (column.extendedFormat === 'json') return jsonValue(value);
  switch (type) {
    case TYPE.bigint:
    case TYPE.decimal:
    case TYPE.newDecimal:
      return exactNumber(value);
    case TYPE.json:
      return jsonValue(value);
    case TYPE.datetime:
      return value.replace(' ', 'T');
    case TYPE.timestamp:
      // The session's zone is UTC.
      return `${value.replace(' ', 'T')}Z`;
    default:
      return value;
  }
}

/**
 * The id a statement has given, digit by digit; 0 is none (MySQL, "OK Packet"). It has no sign there, and the driver gives
 * it one.
 */
export function readInsertId(id: number | string | undefined): JsonValue | undefined {
  const number = BigInt.asUintN(64, BigInt(id ?? 0));
  return number === 0n ? undefined : exactNumber(String(number));
}

/** Bytes of a value, roughly. */
export function mysqlSize(value: unknown): number {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 8;
}

/** What the driver sends for a parameter: a list or an object becomes JSON text, a big number its digits. */
export function toMysqlParameter(value: JsonValue): string | number | boolean | null {
  if (value === null || typeof value !== 'object') return value;
  return isRawNumber(value) ? value.rawJSON : stringifyJson(value);
}

/** BIT(n) is a number of up to 64 bits, the highest first. */
function bitNumber(bits: Buffer): JsonValue {
  return exactNumber(String(bits.length === 0 ? 0 : BigInt(`0x${bits.toString('hex')}`)));
}

/** The shortest number that is the same float: 0.1, not 0.10000000149011612. */
function shortFloat(value: number): number {
  for (let digits = 1; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}
