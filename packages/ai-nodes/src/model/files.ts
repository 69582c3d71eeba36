import {
  type AiFile,
  type FileService,
  isJsonArray,
  type JsonValue,
  type NodeContext,
  type OpenFile,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { Type } from 'typebox';

const MAX_FILES = 20;
/** Of all files of a question: they are in memory together, and an agent sends them with every step. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Of all texts among them: some 130,000 tokens, which is more than most models take. */
const MAX_TEXT_BYTES = 512 * 1024;
/** What each of the three formats has a way to send. */
const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf'];

export const filesProperty = Type.Unsafe<JsonValue>({
  title: 'Files',
  description:
    'Images (PNG, JPEG, GIF, WebP), PDF files and texts (such as TXT, CSV, JSON, Markdown) that the model sees before the prompt: a file or a list of at most 20, of 8 MiB together, and texts of 512 KiB together. Not every model can read images and PDF files.',
  default: [],
});

/** Content of files, as it is sent. */
export interface ModelFiles {
  readonly files: readonly AiFile[];
  /** No format has a common way for these, so they are part of the text. */
  readonly texts: readonly { readonly name: string; readonly text: string }[];
}

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
  const unfit = opened.find(({ type }) => !TYPES.includes(typeOf(type)) && !isText(type));
  if (unfit !== undefined) {
    const { name, type } = unfit;
    throw new NodeProblem(message('nodes.unreadable_file', { name, type }));
  }
  if (opened.reduce((sum, { size }) => sum + size, 0) > MAX_BYTES) {
    throw new NodeProblem(message('nodes.files_too_large', { max: MAX_BYTES / (1024 * 1024) }));
  }
  const texts = opened.filter(({ type }) => isText(type));
  if (texts.reduce((sum, { size }) => sum + size, 0) > MAX_TEXT_BYTES) {
    throw new NodeProblem(message('nodes.texts_too_large', { max: MAX_TEXT_BYTES / 1024 }));
  }
  return opened;
}

/** @throws NodeProblem for a text that isn't UTF-8, ServiceError */
export async function readModelFiles(
  opened: readonly OpenFile[],
  context: Pick<NodeContext, 'readWhole'>,
): Promise<ModelFiles> {
  const files: AiFile[] = [];
  const texts: { name: string; text: string }[] = [];
  for (const file of opened) {
    const bytes = await context.readWhole(file);
    const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const { name } = file;
    if (isText(file.type)) texts.push({ name, text: textOf(content, name) });
    else files.push({ name, type: typeOf(file.type), base64: content.toString('base64') });
  }
  return { files, texts };
}

function textOf(content: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new NodeProblem(message('nodes.text_not_utf8', { name }));
  }
}

/** As outputs show them. */
export function describeFiles(opened: readonly OpenFile[]): JsonValue {
  return opened.map(({ name, type, size }) => ({ name, type, size }));
}

const TEXT_TYPES = [
  'application/json',
  'application/xml',
  'application/yaml',
  'application/x-yaml',
  'application/x-ndjson',
  'application/javascript',
];

/** Whether a file of this type is a text as people write it. */
function isText(type: string): boolean {
  const bare = typeOf(type);
  return bare.startsWith('text/') || TEXT_TYPES.includes(bare) || /\+(?:json|xml)$/.test(bare);
}

/** Without parameters; some programs still use the older name of JPEG. */
function typeOf(type: string): string {
  const bare = (type.split(';', 1)[0] ?? '').trim().toLowerCase();
  return bare === 'image/jpg' ? 'image/jpeg' : bare;
}
