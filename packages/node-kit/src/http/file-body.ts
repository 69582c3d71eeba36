import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import {
  fileIdOf,
  isJsonArray,
  isJsonObject,
  type JsonValue,
  type NodeContext,
  type OpenFile,
  type StreamedBody,
  stringifyJson,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '../node-problem.ts';
import { scalarText, typeName } from '../values.ts';
import type { HttpConfig } from './config.ts';

const JSON_TYPE = 'application/json; charset=UTF-8';

/** A body that consists of files, or has some among its fields. */
export interface FileBody extends StreamedBody {
  readonly contentType: string;
}

/**
 * The body of a request whose type is `file`, `multipart` or `related`; undefined for others.
 * @throws NodeProblem, ServiceError
 */
export async function openFileBody(
  { body, body_type: type }: HttpConfig,
  context: Pick<NodeContext, 'files' | 'idempotencyKey'>,
): Promise<FileBody | undefined> {
  if (body === null) return undefined;
  if (type === 'file') {
    const file = await context.files.open(body);
    return { contentType: file.type, size: file.size, sha256: file.sha256, read: () => file.read() };
  }
  return type === 'multipart' || type === 'related' ? openParts(type, body, context) : undefined;
}

/** A field with a text or JSON, or a file. */
interface Part {
  readonly head: Buffer;
  readonly content: Buffer | OpenFile;
}

async function openParts(
  type: 'multipart' | 'related',
  body: JsonValue,
  { files, idempotencyKey }: Pick<NodeContext, 'files' | 'idempotencyKey'>,
): Promise<FileBody> {
  if (!isJsonObject(body)) {
    throw new NodeProblem(message('nodes.form_not_object', { given: typeName(body) }));
  }
  // The same in every attempt, so that a receiver that compares bodies sees a repeat; and nothing that a file could contain by chance.
  const boundary = `millrace-${createHash('sha256').update(`boundary ${idempotencyKey}`).digest('hex').slice(0, 40)}`;
  const isForm = type === 'multipart';
  const parts: Part[] = [];
  for (const [name, value] of Object.entries(body)) {
    for (const each of isJsonArray(value) && isForm ? value : [value]) {
      if (each === null) continue;
      const file = fileIdOf(each) === undefined ? null : await files.open(each);
      const content = file ?? (isForm ? textOf(each, name) : Buffer.from(stringifyJson(each), 'utf8'));
      const head = isForm ? formHead(name, file) : `Content-Type: ${file?.type ?? JSON_TYPE}\r\n`;
      parts.push({ head: Buffer.from(`--${boundary}\r\n${head}\r\n`, 'utf8'), content });
    }
  }
  const end = Buffer.from(`--${boundary}--\r\n`);
  const size = parts.reduce((sum, { head, content }) => sum + head.length + sizeOf(content) + 2, end.length);
  async function* read(): AsyncGenerator<Uint8Array> {
    for (const { head, content } of parts) {
      yield head;
      if (Buffer.isBuffer(content)) yield content;
      else yield* content.read();
      yield Buffer.from('\r\n');
    }
    yield end;
  }
  return {
    contentType: `multipart/${isForm ? 'form-data' : 'related'}; boundary=${boundary}`,
    size,
    sha256: null,
    read,
  };
}

function formHead(name: string, file: OpenFile | null): string {
  const fileName = file === null ? '' : `; filename="${escaped(file.name)}"`;
  const type = file === null ? '' : `Content-Type: ${file.type}\r\n`;
  return `Content-Disposition: form-data; name="${escaped(name)}"${fileName}\r\n${type}`;
}

/** As browsers do: nothing in a name can end the header. */
function escaped(name: string): string {
  return name.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22');
}

function textOf(value: JsonValue, name: string): Buffer {
  const text = scalarText(value);
  if (text !== undefined) return Buffer.from(text, 'utf8');
  throw new NodeProblem(
    message('nodes.not_scalar', { where: `config.body.${name}`, given: typeName(value) }),
  );
}

function sizeOf(content: Buffer | OpenFile): number {
  return Buffer.isBuffer(content) ? content.length : content.size;
}

/** What a response says that its body is called: the name it gives, else the end of the address. */
export function responseFileName(headers: { readonly [name: string]: string }, url: string): string {
  const header = headers['content-disposition'] ?? '';
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header)?.[1];
  const quoted = /;\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"/i.exec(header)?.[1]?.replace(/\\(.)/g, '$1');
  const plain = /;\s*filename\s*=\s*([^";\s]+)/i.exec(header)?.[1];
  const last = URL.parse(url)?.pathname.split('/').at(-1);
  return (
    (extended === undefined ? undefined : decoded(extended)) ?? quoted ?? plain ?? decoded(last ?? '') ?? ''
  );
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
