import type { JsonValue } from '@millrace/engine';
import { ProtocolError } from './packets.ts';
import { bytes, i32, longText, type Reading, shortText, skip, u8, u16, u32, u64 } from './reading.ts';
import { type Column, readColumns, readParameterType } from './types.ts';
import { type Meter, readValue } from './values.ts';

/** An error as the server reported it. */
export interface ServerError {
  readonly number: number;
  readonly state: number;
  readonly text: string;
  /** Empty outside a procedure. */
  readonly procedure: string;
  readonly line: number;
}

/** The end of a statement, or of the whole answer. */
export interface Done {
  /** Whether another one follows. */
  readonly hasMore: boolean;
  readonly hasError: boolean;
  /** Whether it answers an attention. */
  readonly isAttention: boolean;
  /** Rows affected; null for a statement that counts none. */
  readonly count: number | null;
  /** What ended, 193 for SELECT. */
  readonly command: number;
}

/** Gets what an answer consists of, in order. */
export interface Listener {
  columns(columns: readonly Column[]): void;
  /** Asked before each row: counts its bytes; null skips it. */
  meter(): Meter;
  row(values: readonly JsonValue[]): void;
  error(error: ServerError): void;
  done(done: Done): void;
  /** Something about the session changed (ENVCHANGE); `value` is all of it. */
  changed(kind: number, value: Buffer): void;
  signedIn(): void;
  /** A call has run to its end. */
  returned(): void;
}

const TOKEN = {
  returnStatus: 0x79,
  columns: 0x81,
  tableNames: 0xa4,
  columnInfo: 0xa5,
  order: 0xa9,
  error: 0xaa,
  info: 0xab,
  returnValue: 0xac,
  signedIn: 0xad,
  features: 0xae,
  row: 0xd1,
  rowWithNulls: 0xd2,
  change: 0xe3,
  sessionState: 0xe4,
  done: 0xfd,
  doneProcedure: 0xfe,
  doneInProcedure: 0xff,
} as const;
const STATUS = { more: 1, error: 2, count: 0x10, attention: 0x20 };
const END_OF_FEATURES = 0xff;

/** Reads an answer's tokens (MS-TDS 2.2.7). */
export function* readTokens(listener: Listener): Reading<never> {
  let columns: readonly Column[] = [];
  for (;;) {
    const token = yield* u8();
    switch (token) {
      case TOKEN.columns:
        columns = yield* readColumns();
        listener.columns(columns);
        break;
      case TOKEN.row:
        yield* readRow(columns, null, listener);
        break;
      case TOKEN.rowWithNulls:
        yield* readRow(columns, yield Math.ceil(columns.length / 8), listener);
        break;
      case TOKEN.error:
        listener.error(yield* readError());
        break;
      case TOKEN.done:
      case TOKEN.doneProcedure:
      case TOKEN.doneInProcedure:
        listener.done(yield* readDone());
        break;
      case TOKEN.change: {
        const value = yield* bytes(yield* u16());
        listener.changed(value.readUInt8(0), value.subarray(1));
        break;
      }
      case TOKEN.signedIn:
        yield* skip(yield* u16());
        listener.signedIn();
        break;
      case TOKEN.returnStatus:
        yield* skip(4);
        listener.returned();
        break;
      case TOKEN.returnValue:
        yield* readValue(yield* readParameterType(), null);
        break;
      case TOKEN.info:
      case TOKEN.order:
      case TOKEN.tableNames:
      case TOKEN.columnInfo:
        yield* skip(yield* u16());
        break;
      case TOKEN.sessionState:
        yield* skip(yield* u32());
        break;
      case TOKEN.features:
        while ((yield* u8()) !== END_OF_FEATURES) yield* skip(yield* u32());
        break;
      default:
        throw new ProtocolError(`the server sent a token that is not known (${token})`);
    }
  }
}

function* readRow(columns: readonly Column[], nulls: Buffer | null, listener: Listener): Reading<void> {
  const known = nulls === null ? null : Buffer.from(nulls);
  const meter = listener.meter();
  const values: JsonValue[] = [];
  for (const [index, { type }] of columns.entries()) {
    const isNull = known !== null && ((known[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
    values.push(isNull ? null : yield* readValue(type, meter));
  }
  listener.row(values);
}

function* readError(): Reading<ServerError> {
  yield* u16();
  const number = yield* i32();
  const state = yield* u8();
  // How severe it is.
  yield* u8();
  const text = yield* longText();
  // The server's name.
  yield* shortText();
  const procedure = yield* shortText();
  return { number, state, text, procedure, line: yield* i32() };
}

function* readDone(): Reading<Done> {
  const status = yield* u16();
  const command = yield* u16();
  const count = yield* u64();
  return {
    hasMore: (status & STATUS.more) !== 0,
    hasError: (status & STATUS.error) !== 0,
    isAttention: (status & STATUS.attention) !== 0,
    count: (status & STATUS.count) === 0 ? null : Number(count),
    command,
  };
}
