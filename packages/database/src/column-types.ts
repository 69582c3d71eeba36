import pg from 'pg';

/** The `types` option of a pg client. */
export type ColumnTypes = NonNullable<pg.ClientConfig['types']>;

const OID = {
  int8: 20,
  int8Array: 1016,
  date: 1082,
  json: 114,
  jsonb: 3802,
  jsonArray: 199,
  jsonbArray: 3807,
  textArray: 1009,
};
/**
 * How columns become JavaScript values, for our clients only (pg's own registry is global): `bigint` is a number, `json` and `date` stay
 * unparsed text, the rest is pg's default (`timestamptz` a Date, `bytea` a Buffer).
 */
export const columnTypes: ColumnTypes = {
  getTypeParser(oid: number, format?: string) {
    if (format === 'binary') return pg.types.getTypeParser(oid, 'binary');
    return PARSERS.get(oid) ?? pg.types.getTypeParser(oid, 'text');
  },
} as ColumnTypes;

const parseTextArray: (text: string) => (string | null)[] = pg.types.getTypeParser(OID.textArray);

const PARSERS = new Map<number, (text: string) => unknown>([
  [OID.int8, parseBigint],
  [OID.int8Array, (text) => parseTextArray(text).map((item) => (item === null ? null : parseBigint(item)))],
  [OID.date, keepText],
  [OID.json, keepText],
  [OID.jsonb, keepText],
  [OID.jsonArray, parseTextArray],
  [OID.jsonbArray, parseTextArray],
]);

function keepText(text: string): string {
  return text;
}

function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is too large to be read as a number`);
  return value;
}
