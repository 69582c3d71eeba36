import { isJsonArray, type JsonValue, stringifyJson } from '@millrace/engine';
import pg from 'pg';
import { exactNumber, jsonValue } from './result.ts';

type Reader = (text: string) => JsonValue;

const asIs: Reader = (text) => text;
const boolean: Reader = (text) => text === 't';
const base64: Reader = (text) =>
  text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex').toString('base64') : text;
/** `2026-01-01 09:30:00.5` becomes `2026-01-01T09:30:00.5`; infinity and years BC aren't ISO dates and stay as they are. */
const timestamp = (text: string): string =>
  /^\d{4}-\d\d-\d\d /.test(text) && !text.endsWith('BC') ? text.replace(' ', 'T') : text;
/** The session's time zone is UTC, so the offset is always +00. */
const timestampWithZone: Reader = (text) => timestamp(text).replace(/\+00$/, 'Z');

/** By type (pg_type.oid, which never changes): its oid, its array's oid, how to read it. */
const TYPES: readonly (readonly [oid: number, listOid: number, read: Reader])[] = [
  [16, 1000, boolean],
  [17, 1001, base64],
  [20, 1016, exactNumber], // bigint
  [21, 1005, exactNumber], // smallint
  [23, 1007, exactNumber], // integer
  [26, 1028, exactNumber], // oid
  [700, 1021, exactNumber], // real
  [701, 1022, exactNumber], // double precision
  [1700, 1231, exactNumber], // numeric
  [114, 199, jsonValue], // json
  [3802, 3807, jsonValue], // jsonb
  [1114, 1115, timestamp],
  [1184, 1185, timestampWithZone],
  [25, 1009, asIs], // text
  [1043, 1015, asIs], // varchar
  [1042, 1014, asIs], // char
  [19, 1003, asIs], // name
  [2950, 2951, asIs], // uuid
  [1082, 1182, asIs], // date
  [1083, 1183, asIs], // time
  [1266, 1270, asIs], // time with zone
  [1186, 1187, asIs], // interval
  [869, 1041, asIs], // inet
  [650, 651, asIs], // cidr
];

const readers = new Map(TYPES.map(([oid, , read]) => [oid, read]));
const listReaders = new Map(TYPES.map(([, listOid, read]) => [listOid, read]));
/** `text[]`; all arrays share its format. */
const TEXT_LIST: number = 1009;
const parseTextList: (text: string) => unknown = pg.types.getTypeParser(TEXT_LIST);

/** Converts a column's text to a value; types without a JSON form stay text. */
export function readColumn(typeOid: number, text: string | null): JsonValue {
  if (text === null) return null;
  const read = readers.get(typeOid);
  if (read !== undefined) return read(text);
  const readItem = listReaders.get(typeOid);
  return readItem === undefined ? text : readItems(parseTextList(text), readItem);
}

function readItems(items: unknown, read: Reader): JsonValue {
  if (Array.isArray(items)) return items.map((item) => readItems(item, read));
  return typeof items === 'string' ? read(items) : null;
}

/** What the driver sends for a parameter: text whose type the server infers; a list becomes an array, an object JSON. */
export type PostgresqlParameter = string | null | readonly PostgresqlParameter[];

export function toPostgresqlParameter(value: JsonValue): PostgresqlParameter {
  if (value === null) return null;
  if (typeof value === 'string') return value;
  if (isJsonArray(value)) return value.map(toPostgresqlParameter);
  return stringifyJson(value);
}
