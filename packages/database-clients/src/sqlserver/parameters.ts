import { isRawNumber, type JsonValue, stringifyJson } from '@millrace/engine';
import { TYPE } from './types.ts';

/** A value as a statement declares and gets it. */
export interface Parameter {
  /** Its type in Transact-SQL. */
  readonly declared: string;
  /** Type and value as they are sent. */
  readonly bytes: Buffer;
}

const INT4 = 2 ** 31;
const INT8 = 2n ** 63n;
const MAX_DIGITS = 38;
/** Characters of an `nvarchar` that isn't `nvarchar(max)`. */
const MAX_SHORT = 4_000;

/**
 * The type that holds a value without loss and lets an index be used: `int`, `bigint`, `decimal` with its own digits, `float` beyond 38 of
 * them, `bit`, else text. A list or an object is JSON; NULL is text, which converts to nearly everything.
 * @param collation of the session, five bytes
 */
export function parameterOf(value: JsonValue, collation: Buffer): Parameter {
  if (value === null) return textParameter(null, collation);
  if (typeof value === 'boolean') {
    return { declared: 'bit', bytes: Buffer.from([TYPE.bitN, 1, 1, value ? 1 : 0]) };
  }
  if (typeof value === 'string') return textParameter(value, collation);
  if (typeof value === 'number' || isRawNumber(value)) {
    return numberParameter(typeof value === 'number' ? String(value) : value.rawJSON, collation);
  }
  return textParameter(stringifyJson(value), collation);
}

function numberParameter(written: string, collation: Buffer): Parameter {
  const { unscaled, scale } = digitsOf(written);
  if (scale === 0 && unscaled >= -INT8 && unscaled < INT8) return integerParameter(unscaled);
  const size = unscaled < 0n ? -unscaled : unscaled;
  const precision = Math.max(String(size).length, scale);
  if (precision <= MAX_DIGITS) {
    const bytes = Buffer.from([TYPE.decimalN, 17, precision, scale, 17, unscaled < 0n ? 0 : 1]);
    return { declared: `decimal(${precision}, ${scale})`, bytes: Buffer.concat([bytes, littleEndian(size)]) };
  }
  // A double is what JavaScript has; more digits than that are text.
  if (String(Number(written)) !== written) return textParameter(written, collation);
  const bytes = Buffer.alloc(11);
  bytes.set([TYPE.floatN, 8, 8]);
  bytes.writeDoubleLE(Number(written), 3);
  return { declared: 'float', bytes };
}

function integerParameter(value: bigint): Parameter {
  const isSmall = value >= -INT4 && value < INT4;
  const length = isSmall ? 4 : 8;
  const bytes = Buffer.alloc(3 + length);
  bytes.set([TYPE.intN, length, length]);
  if (isSmall) bytes.writeInt32LE(Number(value), 3);
  else bytes.writeBigInt64LE(value, 3);
  return { declared: isSmall ? 'int' : 'bigint', bytes };
}

/** A JSON number as an integer and the number of its digits after the point. Exponents beyond what a decimal holds stay. */
function digitsOf(written: string): { readonly unscaled: bigint; readonly scale: number } {
  const found = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(written);
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = found ?? [];
  const scale = fraction.length - Number(exponent);
  const unscaled = BigInt(`${sign}${whole}${fraction}`);
  if (scale >= 0) return { unscaled, scale };
  return { unscaled: scale < -MAX_DIGITS ? 10n ** 40n : unscaled * 10n ** BigInt(-scale), scale: 0 };
}

function littleEndian(size: bigint): Buffer {
  return Buffer.from(size.toString(16).padStart(32, '0'), 'hex').reverse();
}

function textParameter(text: string | null, collation: Buffer): Parameter {
  const data = text === null ? null : Buffer.from(text, 'utf16le');
  if (data !== null && data.length > 2 * MAX_SHORT) {
    return { declared: 'nvarchar(max)', bytes: longText(data, collation) };
  }
  const type = Buffer.from([TYPE.nvarchar, 0, 0, ...collation]);
  type.writeUInt16LE(2 * MAX_SHORT, 1);
  const length = Buffer.alloc(2);
  length.writeUInt16LE(data?.length ?? 0xffff, 0);
  return {
    declared: `nvarchar(${MAX_SHORT})`,
    bytes: Buffer.concat([type, length, data ?? Buffer.alloc(0)]),
  };
}

/** `nvarchar(max)`, in one part. */
function longText(data: Buffer, collation: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeBigUInt64LE(BigInt(data.length), 0);
  head.writeUInt32LE(data.length, 8);
  const parts = data.length === 0 ? [head] : [head, data, Buffer.alloc(4)];
  return Buffer.concat([Buffer.from([TYPE.nvarchar, 0xff, 0xff, ...collation]), ...parts]);
}

const BY_ID = 0xffff;
const SP_EXECUTESQL = 10;

/** A call of `sp_executesql`: the server compiles the text and binds the values as @p1, @p2 and so on. */
export function statementCall(sql: string, parameters: readonly Parameter[], collation: Buffer): Buffer {
  const call = Buffer.alloc(6);
  call.writeUInt16LE(BY_ID, 0);
  call.writeUInt16LE(SP_EXECUTESQL, 2);
  const unnamed = Buffer.alloc(2);
  const text = (value: string) => longText(Buffer.from(value, 'utf16le'), collation);
  const parts = [call, unnamed, text(sql)];
  if (parameters.length > 0) {
    const declared = parameters.map((parameter, index) => `@p${index + 1} ${parameter.declared}`);
    parts.push(unnamed, text(declared.join(', ')));
  }
  for (const [index, { bytes }] of parameters.entries()) {
    const name = Buffer.from(`@p${index + 1}`, 'utf16le');
    parts.push(Buffer.from([name.length / 2]), name, Buffer.alloc(1), bytes);
  }
  return Buffer.concat(parts);
}
