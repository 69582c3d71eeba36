import { createHash } from 'node:crypto';
import type { Connector } from '@millrace/connectors/format';
import { readOwnConnector } from '@millrace/connectors/own';
import {
  findJsonMistake,
  findUnsupportedCharacters,
  type JsonValue,
  jsonDepthExceeds,
} from '@millrace/engine';

/** Of one file. */
export const MAX_FILE_BYTES = 256 * 1024;
const MAX_DEPTH = 40;

/** What is wrong with a file: where, and what to do about it. */
export interface FileFault {
  /** JSON Pointer into the file; empty: the file as a whole. */
  readonly pointer: string;
  readonly message: string;
}

/** A file that can be stored. */
export interface CheckedFile {
  readonly connector: Connector;
  /** As it is stored. */
  readonly text: string;
  readonly bytes: number;
  readonly hash: Buffer;
}

export type CheckResult =
  | { readonly kind: 'sound'; readonly file: CheckedFile }
  | { readonly kind: 'faulty'; readonly faults: readonly [FileFault, ...FileFault[]] };

/** Checks a connector's file as uploads do; needs no service. */
export function checkConnectorFile(given: string): CheckResult {
  const text = given.replace(/^\uFEFF/, '');
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_FILE_BYTES) {
    return faulty(`The file has ${bytes} bytes; at most ${MAX_FILE_BYTES} are possible.`);
  }
  if (jsonDepthExceeds(text, MAX_DEPTH)) return faulty(`It is nested more than ${MAX_DEPTH} levels deep.`);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    const { line, column } = placeOf(text, findJsonMistake(text));
    return faulty(`This isn't valid JSON: see line ${line}, column ${column}.`);
  }
  const pointer = findUnsupportedCharacters(value);
  if (pointer !== null) {
    return {
      kind: 'faulty',
      faults: [{ pointer, message: "has a character that can't be stored; remove it." }],
    };
  }
  const read = readOwnConnector(value);
  if ('faults' in read) return { kind: 'faulty', faults: read.faults };
  const hash = createHash('sha256').update(text).digest();
  return { kind: 'sound', file: { connector: read.connector, text, bytes, hash } };
}

function faulty(message: string): CheckResult {
  return { kind: 'faulty', faults: [{ pointer: '', message }] };
}

function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
