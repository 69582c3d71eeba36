import { decoderOf } from './collations.ts';
import { ProtocolError } from './packets.ts';
import { longText, type Reading, shortText, skip, u8, u16, u32 } from './reading.ts';

/** Types of values (MS-TDS 2.2.5.4). */
export const TYPE = {
  null: 0x1f,
  int1: 0x30,
  bit: 0x32,
  int2: 0x34,
  int4: 0x38,
  smallDatetime: 0x3a,
  float4: 0x3b,
  money: 0x3c,
  datetime: 0x3d,
  float8: 0x3e,
  smallMoney: 0x7a,
  int8: 0x7f,
  guid: 0x24,
  intN: 0x26,
  bitN: 0x68,
  decimalN: 0x6a,
  numericN: 0x6c,
  floatN: 0x6d,
  moneyN: 0x6e,
  datetimeN: 0x6f,
  date: 0x28,
  time: 0x29,
  datetime2: 0x2a,
  datetimeOffset: 0x2b,
  image: 0x22,
  text: 0x23,
  ntext: 0x63,
  varbinary: 0xa5,
  varchar: 0xa7,
  binary: 0xad,
  char: 0xaf,
  nvarchar: 0xe7,
  nchar: 0xef,
  udt: 0xf0,
  xml: 0xf1,
  variant: 0x62,
} as const;

const FIXED = new Map<number, number>([
  [TYPE.null, 0],
  [TYPE.int1, 1],
  [TYPE.bit, 1],
  [TYPE.int2, 2],
  [TYPE.int4, 4],
  [TYPE.smallDatetime, 4],
  [TYPE.float4, 4],
  [TYPE.money, 8],
  [TYPE.datetime, 8],
  [TYPE.float8, 8],
  [TYPE.smallMoney, 4],
  [TYPE.int8, 8],
]);
/** A length of two bytes that says: in parts, of any length. */
const IN_PARTS = 0xffff;

/** How a value stands in a row. */
export type Layout =
  | { readonly kind: 'fixed'; readonly length: number }
  /** After its length in one byte; 0 is NULL. */
  | { readonly kind: 'byte' }
  /** After its length in two bytes; 0xffff is NULL. */
  | { readonly kind: 'short' }
  /** In parts (PLP), up to 2 GB. */
  | { readonly kind: 'parts' }
  /** After a pointer and a time stamp, up to 2 GB. */
  | { readonly kind: 'pointer' }
  /** With its type before it. */
  | { readonly kind: 'variant' };

export interface ValueType {
  readonly token: number;
  readonly layout: Layout;
  readonly scale: number;
  /** Of texts that aren't Unicode. */
  readonly decode?: (text: Buffer) => string;
}

export interface Column {
  readonly name: string;
  readonly type: ValueType;
}

/** @throws ProtocolError for a type that no server sends to this client */
function* readType(): Reading<ValueType> {
  const token = yield* u8();
  const length = FIXED.get(token);
  if (length !== undefined) return { token, layout: { kind: 'fixed', length }, scale: 0 };
  switch (token) {
    case TYPE.guid:
    case TYPE.intN:
    case TYPE.bitN:
    case TYPE.floatN:
    case TYPE.moneyN:
    case TYPE.datetimeN:
      yield* skip(1);
      return { token, layout: { kind: 'byte' }, scale: 0 };
    case TYPE.date:
      return { token, layout: { kind: 'byte' }, scale: 0 };
    case TYPE.decimalN:
    case TYPE.numericN:
      yield* skip(2);
      return { token, layout: { kind: 'byte' }, scale: yield* u8() };
    case TYPE.time:
    case TYPE.datetime2:
    case TYPE.datetimeOffset:
      return { token, layout: { kind: 'byte' }, scale: yield* u8() };
    case TYPE.varbinary:
    case TYPE.binary:
      return { token, layout: shortOrParts(yield* u16()), scale: 0 };
    case TYPE.varchar:
    case TYPE.char:
    case TYPE.nvarchar:
    case TYPE.nchar: {
      const layout = shortOrParts(yield* u16());
      return { token, layout, scale: 0, decode: decoderOf(yield 5) };
    }
    case TYPE.text:
    case TYPE.ntext:
      yield* u32();
      return { token, layout: { kind: 'pointer' }, scale: 0, decode: decoderOf(yield 5) };
    case TYPE.image:
      yield* u32();
      return { token, layout: { kind: 'pointer' }, scale: 0 };
    case TYPE.variant:
      yield* u32();
      return { token, layout: { kind: 'variant' }, scale: 0 };
    case TYPE.xml:
      if ((yield* u8()) !== 0) {
        yield* shortText();
        yield* shortText();
        yield* longText();
      }
      return { token, layout: { kind: 'parts' }, scale: 0 };
    case TYPE.udt:
      yield* u16();
      for (let name = 0; name < 3; name += 1) yield* shortText();
      yield* longText();
      return { token, layout: { kind: 'parts' }, scale: 0 };
    default:
      throw new ProtocolError(`the server sent a type that is not known (${token})`);
  }
}

function shortOrParts(length: number): Layout {
  return { kind: length === IN_PARTS ? 'parts' : 'short' };
}

/** The columns of a result (COLMETADATA). */
export function* readColumns(): Reading<readonly Column[]> {
  const count = yield* u16();
  if (count === 0xffff) return [];
  const columns: Column[] = [];
  for (let index = 0; index < count; index += 1) {
    // User type and flags.
    yield* skip(6);
    const type = yield* readType();
    if (type.layout.kind === 'pointer') {
      for (let parts = yield* u8(); parts > 0; parts -= 1) yield* longText();
    }
    columns.push({ name: yield* shortText(), type });
  }
  return columns;
}

/** An output parameter (RETURNVALUE): its type; the value follows. */
export function* readParameterType(): Reading<ValueType> {
  yield* u16();
  yield* shortText();
  // Status, user type and flags.
  yield* skip(7);
  return yield* readType();
}
