import type { JsonValue } from '@millrace/engine';
import { exactNumber, shortFloat } from '../sql/result.ts';
import { decoderOf } from './collations.ts';
import { dateText, daysAndTicks, momentText, timeText } from './moments.ts';
import { ProtocolError } from './packets.ts';
import { bytes, type Reading, skip, u8, u16, u32, u64 } from './reading.ts';
import { TYPE, type ValueType } from './types.ts';

/** Counts bytes before they are kept, and throws when there are too many; null: nothing is kept. */
export type Meter = ((bytes: number) => void) | null;

const NULL_PARTS = 0xffff_ffff_ffff_ffffn;
const NULL_SHORT = 0xffff;

/** Reads one value; without a meter it is skipped. */
export function* readValue(type: ValueType, meter: Meter): Reading<JsonValue> {
  const { layout } = type;
  switch (layout.kind) {
    case 'fixed':
      return yield* take(type, layout.length, meter);
    case 'byte': {
      const length = yield* u8();
      return length === 0 ? null : yield* take(type, length, meter);
    }
    case 'short': {
      const length = yield* u16();
      return length === NULL_SHORT ? null : yield* take(type, length, meter);
    }
    case 'pointer': {
      const pointer = yield* u8();
      if (pointer === 0) return null;
      // The pointer and a time stamp.
      yield* skip(pointer + 8);
      return yield* take(type, yield* u32(), meter);
    }
    case 'parts':
      return yield* readParts(type, meter);
    case 'variant':
      return yield* readVariant(meter);
  }
}

function* take(type: ValueType, length: number, meter: Meter): Reading<JsonValue> {
  if (meter === null) {
    yield* skip(length);
    return null;
  }
  meter(length);
  return decodeValue(type, yield* bytes(length));
}

function* readParts(type: ValueType, meter: Meter): Reading<JsonValue> {
  if ((yield* u64()) === NULL_PARTS) return null;
  const parts: Buffer[] = [];
  for (let length = yield* u32(); length > 0; length = yield* u32()) {
    if (meter === null) {
      yield* skip(length);
      continue;
    }
    meter(length);
    parts.push(yield* bytes(length));
  }
  return meter === null ? null : decodeValue(type, Buffer.concat(parts));
}

/** A `sql_variant`: the type and its properties stand before the value. */
function* readVariant(meter: Meter): Reading<JsonValue> {
  const length = yield* u32();
  if (length === 0) return null;
  const token = yield* u8();
  const properties = yield yield* u8();
  const type = variantType(token, properties);
  return yield* take(type, length - 2 - properties.length, meter);
}

function variantType(token: number, properties: Buffer): ValueType {
  const base = { token, layout: { kind: 'byte' }, scale: 0 } as const;
  switch (token) {
    case TYPE.decimalN:
    case TYPE.numericN:
      return { ...base, scale: properties.readUInt8(1) };
    case TYPE.time:
    case TYPE.datetime2:
    case TYPE.datetimeOffset:
      return { ...base, scale: properties.readUInt8(0) };
    case TYPE.varchar:
    case TYPE.char:
      return { ...base, decode: decoderOf(properties) };
    default:
      return base;
  }
}

function decodeValue({ token, scale, decode }: ValueType, data: Buffer): JsonValue {
  switch (token) {
    case TYPE.null:
      return null;
    case TYPE.int1:
    case TYPE.int2:
    case TYPE.int4:
    case TYPE.int8:
    case TYPE.intN:
      return integer(data);
    case TYPE.bit:
    case TYPE.bitN:
      return data.readUInt8(0) !== 0;
    case TYPE.float4:
    case TYPE.float8:
    case TYPE.floatN:
      return data.length === 4 ? shortFloat(data.readFloatLE(0)) : data.readDoubleLE(0);
    case TYPE.money:
    case TYPE.smallMoney:
    case TYPE.moneyN:
      return decimal(money(data), 4);
    case TYPE.decimalN:
    case TYPE.numericN:
      return decimal(magnitude(data.subarray(1)) * (data.readUInt8(0) === 0 ? -1n : 1n), scale);
    case TYPE.smallDatetime:
    case TYPE.datetime:
    case TYPE.datetimeN:
      return oldDatetime(data);
    case TYPE.date:
      return dateText(data.readUIntLE(0, 3));
    case TYPE.time:
      return timeText(data.readUIntLE(0, data.length), scale);
    case TYPE.datetime2: {
      const [days, ticks] = daysAndTicks(data);
      return `${dateText(days)}T${timeText(ticks, scale)}`;
    }
    case TYPE.datetimeOffset: {
      const minutes = data.readInt16LE(data.length - 2);
      return momentText(...daysAndTicks(data.subarray(0, -2)), scale, minutes);
    }
    case TYPE.guid:
      return guid(data);
    case TYPE.char:
    case TYPE.varchar:
    case TYPE.text:
      return decode?.(data) ?? data.toString('latin1');
    case TYPE.nchar:
    case TYPE.nvarchar:
    case TYPE.ntext:
      return data.toString('utf16le').toWellFormed();
    case TYPE.xml:
      return data
        .toString('utf16le')
        .replace(/^\ufeff/, '')
        .toWellFormed();
    case TYPE.binary:
    case TYPE.varbinary:
    case TYPE.image:
    case TYPE.udt:
      return data.toString('base64');
    default:
      throw new ProtocolError(`the server sent a type that is not known (${token})`);
  }
}

/** `tinyint` has no sign. */
function integer(data: Buffer): JsonValue {
  if (data.length === 8) return exactNumber(String(data.readBigInt64LE(0)));
  return data.length === 1 ? data.readUInt8(0) : data.readIntLE(0, data.length);
}

/** The half with the sign comes first. */
function money(data: Buffer): bigint {
  if (data.length === 4) return BigInt(data.readInt32LE(0));
  return (BigInt(data.readInt32LE(0)) << 32n) | BigInt(data.readUInt32LE(4));
}

function magnitude(littleEndian: Buffer): bigint {
  return BigInt(`0x${Buffer.from(littleEndian).reverse().toString('hex')}`);
}

function decimal(unscaled: bigint, scale: number): JsonValue {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const text = scale === 0 ? whole : `${whole}.${digits.slice(-scale)}`;
  return exactNumber(unscaled < 0n ? `-${text}` : text);
}

const DAYS_TO_1900 = 693_595;

/** `datetime` counts 300ths of a second, `smalldatetime` minutes. */
function oldDatetime(data: Buffer): string {
  if (data.length === 4) {
    const date = dateText(DAYS_TO_1900 + data.readUInt16LE(0));
    return `${date}T${timeText(data.readUInt16LE(2) * 60, 0)}`;
  }
  const milliseconds = Math.round((data.readUInt32LE(4) * 10) / 3);
  return `${dateText(DAYS_TO_1900 + data.readInt32LE(0))}T${timeText(milliseconds, 3)}`;
}

/** Its first three groups are little-endian. Written as the server does. */
function guid(data: Buffer): string {
  const hex = (from: number, to: number): string => data.toString('hex', from, to);
  const turned = (from: number, to: number): string =>
    Buffer.from(data.subarray(from, to)).reverse().toString('hex');
  return [turned(0, 4), turned(4, 6), turned(6, 8), hex(8, 10), hex(10, 16)].join('-').toUpperCase();
}
