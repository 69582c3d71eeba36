import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline, type Readable, Transform } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import {
  findUnsupportedCharacters,
  inputOfRow,
  inputPropertiesOf,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  tryParseJson,
  undeclaredProperty,
} from '@millrace/engine';
import Papa from 'papaparse';
import type { RowFormat } from './row-format.ts';
import { RefusedError } from './shell.ts';
import { unreadable } from './unreadable.ts';

/** A file of rows, each the input of one start. */
export interface RowFile {
  /** `-`: standard input. */
  readonly path: string;
  readonly format: RowFormat;
  readonly encoding: string;
}

/** Hash of the file's content; random for standard input, which can be read only once. @throws RefusedError `file_unreadable` */
export async function identityOf({ path }: RowFile): Promise<string> {
  if (path === '-') return randomUUID();
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } catch (error) {
    throw unreadable(error);
  }
  return hash.digest('hex').slice(0, 32);
}

/**
 * The rows in order, without holding the whole file, except for `json`.
 * @param schema converts cells of CSV files; null if the workflow declares none
 * @throws RefusedError `file_unreadable`, `invalid_row`
 */
export async function* readRows(file: RowFile, schema: JsonSchema | null): AsyncGenerator<JsonObject> {
  const text = textOf(file);
  try {
    if (file.format === 'csv') yield* csvRows(text, schema);
    else if (file.format === 'jsonl') yield* jsonLines(text);
    else yield* jsonList(await readAll(text));
  } catch (error) {
    throw error instanceof RefusedError ? error : unreadable(error);
  } finally {
    text.destroy();
  }
}

/** Decoded as a stream: a character may be divided between two chunks. */
function textOf({ path, encoding }: RowFile): Readable {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = new Transform({
    readableObjectMode: true,
    transform(chunk: Buffer, _encoding, done) {
      attempt(done, () => decoder.decode(chunk, { stream: true }));
    },
    flush(done) {
      attempt(done, () => decoder.decode());
    },
  });
  const source = path === '-' ? process.stdin : createReadStream(path);
  // Errors of either reach the reader of the last stream.
  return pipeline(source, decode, () => {});
}

function attempt(done: (error: Error | null, text?: string) => void, decode: () => string): void {
  let text: string;
  try {
    text = decode();
  } catch {
    done(
      new Error('it has bytes that are not valid in its encoding; give the right one: --encoding shift_jis'),
    );
    return;
  }
  done(null, text === '' ? undefined : text);
}

async function* csvRows(text: Readable, schema: JsonSchema | null): AsyncGenerator<JsonObject> {
  const properties = new Map(inputPropertiesOf(schema).map((property) => [property.name, property]));
  let header: string[] | null = null;
  for await (const row of parseCsv(text)) {
    if (header === null) {
      header = row.map((cell) => cell.trim());
      continue;
    }
    const columns = header.map((name) =>
      name === '' ? null : (properties.get(name) ?? undeclaredProperty(name)),
    );
    yield inputOfRow(row, columns);
  }
}

function parseCsv(text: Readable): AsyncIterable<string[]> {
  const parser = Papa.parse(Papa.NODE_STREAM_INPUT, { skipEmptyLines: 'greedy' });
  return pipeline(text, parser, () => {});
}

async function* jsonLines(text: Readable): AsyncGenerator<JsonObject> {
  let line = 0;
  for await (const content of linesOf(text)) {
    line += 1;
    if (content.trim() !== '') yield objectIn(tryParseJson(content), `Line ${line}`);
  }
}

async function* linesOf(text: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of text) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest;
}

function* jsonList(text: string): Generator<JsonObject> {
  const value = tryParseJson(text);
  if (value === undefined || !isJsonArray(value))
    throw new RefusedError('invalid_row', "The file isn't a JSON list of objects.");
  for (const [index, item] of value.entries()) yield objectIn(item, `Item ${index + 1}`);
}

function objectIn(value: unknown, where: string): JsonObject {
  if (!isJsonObject(value)) throw new RefusedError('invalid_row', `${where} isn't a JSON object.`);
  if (findUnsupportedCharacters(value) !== null)
    throw new RefusedError(
      'invalid_row',
      `${where} has characters that can't be stored (\\u0000 or lone surrogates).`,
    );
  return value;
}
