import { type AiFile, type FileService, isJsonArray, type JsonValue, type OpenFile } from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { Type } from 'typebox';

const MAX_FILES = 20;
/** Of all files of a question: they are in memory together, and an agent sends them with every step. */
const MAX_BYTES = 8 * 1024 * 1024;
/** What each of the three formats has a way to send. */
const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf'];

export const filesProperty = Type.Unsafe<JsonValue>({
  title: 'Files',
  description:
    'Images (PNG, JPEG, GIF, WebP) and PDF files that the model sees before the prompt: a file or a list of at most 20, of 8 MiB together. Not every model can read them.',
  default: [],
});

/**
 * The files of a config, of types that models can be sent.
 * @throws NodeProblem, ServiceError
 */
export async function openModelFiles(value: JsonValue, files: FileService): Promise<readonly OpenFile[]> {
  // What a template finds nothing for is null.
  const given = isJsonArray(value) ? value : value === null || value === '' ? [] : [value];
  if (given.length > MAX_FILES) {
    throw new NodeProblem(message('nodes.too_many_files', { setting: 'files', max: MAX_FILES }));
  }
  const opened: OpenFile[] = [];
  for (const each of given) opened.push(await files.open(each));
  const unfit = opened.find(({ type }) => !TYPES.includes(typeOf(type)));
  if (unfit !== undefined) {
    const { name, type } = unfit;
    throw new NodeProblem(message('nodes.unreadable_file', { name, type }));
  }
  if (opened.reduce((sum, { size }) => sum + size, 0) > MAX_BYTES) {
    throw new NodeProblem(message('nodes.files_too_large', { max: MAX_BYTES / (1024 * 1024) }));
  }
  return opened;
}

/** Their content, as it is sent. @throws ServiceError */
export async function readModelFiles(opened: readonly OpenFile[]): Promise<readonly AiFile[]> {
  const read: AiFile[] = [];
  for (const file of opened) {
    const pieces: Uint8Array[] = [];
    for await (const piece of file.read()) pieces.push(piece);
    const base64 = Buffer.concat(pieces).toString('base64');
    read.push({ name: file.name, type: typeOf(file.type), base64 });
  }
  return read;
}

/** As outputs show them. */
export function describeFiles(opened: readonly OpenFile[]): JsonValue {
  return opened.map(({ name, type, size }) => ({ name, type, size }));
}

/** Without parameters; some programs still use the older name of JPEG. */
function typeOf(type: string): string {
  const bare = (type.split(';', 1)[0] ?? '').trim().toLowerCase();
  return bare === 'image/jpg' ? 'image/jpeg' : bare;
}
