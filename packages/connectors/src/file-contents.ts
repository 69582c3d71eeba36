import { Buffer } from 'node:buffer';
import {
  type Failure,
  type FileValue,
  failure,
  isJsonArray,
  type JsonValue,
  mediaTypeOf,
  type NodeContext,
  type OpenFile,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import type { FileContents, Operation } from './format.ts';
import type { Call } from './request.ts';
import { fillIn, fillInText } from './templates.ts';

/** Of one request. */
const MAX_FILES = 50;

/**
 * Reads files whole, for services that take them within a text or JSON.
 * @returns what becomes of each of them
 * @throws NodeProblem, ServiceError, RenderLimitError
 */
export async function fileContents(
  { args, budget }: Call,
  { of, max_bytes: max, encoding, each }: FileContents,
  context: Pick<NodeContext, 'files' | 'readWhole'>,
): Promise<readonly JsonValue[]> {
  const given = fillIn(of, args, budget);
  const values = given === null || given === '' ? [] : isJsonArray(given) ? given : [given];
  const setting = /args\.(\w+)/.exec(of)?.[1] ?? '';
  if (values.length > MAX_FILES) {
    throw new NodeProblem(message('nodes.too_many_files', { setting, max: MAX_FILES }));
  }
  const files: OpenFile[] = [];
  for (const value of values) files.push(await context.files.open(value));
  if (files.reduce((sum, { size }) => sum + size, 0) > max) {
    throw new NodeProblem(message('nodes.connector_files_too_large', { setting, max }));
  }
  const made: JsonValue[] = [];
  for (const file of files) {
    const bytes = await context.readWhole(file);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
    const content = encoding === 'base64' ? text : text.replace(/.{76}(?=.)/g, '$&\n');
    const { name, type, size } = file;
    made.push(fillIn(each, { ...args, item: { name, type, size, content } }, budget));
  }
  return made;
}

const BASE64 = /^[\w+/-]*={0,2}$/;
/** Of base64, decoded at once; a multiple of 4. */
const PIECE = 1_000_000;

/** Stores the file that an answer has in base64. @throws ServiceError, RenderLimitError */
export async function storeFile(
  { args, budget, connector }: Call,
  { base64, name: template }: NonNullable<Operation['stores']>,
  context: Pick<NodeContext, 'files'>,
): Promise<{ readonly file: FileValue } | Failure> {
  const content = fillIn(base64, args, budget);
  if (typeof content !== 'string' || !BASE64.test(content)) {
    return failure('invalid_response', message('nodes.connector_no_file', { service: connector.title }));
  }
  async function* pieces(text: string): AsyncGenerator<Uint8Array> {
    // Reads both alphabets.
    for (let at = 0; at < text.length; at += PIECE) yield Buffer.from(text.slice(at, at + PIECE), 'base64');
  }
  const name = fillInText(template, args, budget);
  const type = mediaTypeOf(name) ?? 'application/octet-stream';
  return { file: await context.files.save({ name, type }, pieces(content)) };
}
