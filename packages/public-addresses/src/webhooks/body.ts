import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { type JsonValue, setOwn } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { fileName, mediaType } from '@millrace/files/names';
import { isJsonType, readJsonBody, refuseOtherCharsets } from '@millrace/http/body';
import { isForm, isMultipart, typeOf } from '@millrace/http/media-type';
import { type ArrivingFile, readParts } from '@millrace/http/parts';
import { message } from '@millrace/messages';
import type { WebhookOptions } from '@millrace/triggers';
import { errorCodes, type FastifyRequest } from 'fastify';

/** Of a form in one line, which is read at a stretch: a mebibyte of empty fields takes a third of a second. */
const MAX_FIELDS = 10_000;

/** Each part takes memory beyond its bytes, and each file is stored by statements of its own. */
export const PART_LIMITS = { parts: 1_000, files: 20 } as const;

/**
 * The data of a call. No body counts as `{}`.
 * @param keepFile for the mode `files`, which nobody may use before the call has been checked
 * @throws ApiError `invalid_body`, `invalid_json`, `json_too_deep`, `unsupported_media_type`; what `keepFile` throws
 */
export async function readWebhookBody(
  request: FastifyRequest,
  mode: WebhookOptions['body'],
  { limits }: { readonly limits: { readonly jsonDepth: number } },
  keepFile: ((file: ArrivingFile) => Promise<JsonValue>) | null = null,
): Promise<JsonValue> {
  const bytes = request.rawBody ?? Buffer.alloc(0);
  const contentType = request.headers['content-type'];
  if (mode === 'raw') return readText(bytes, contentType);
  if (bytes.length === 0) return {};
  const type = typeOf(contentType);
  if (type === undefined || (isJsonType(type) && !(mode !== 'json' && type === 'text/plain')))
    return orEmpty(readJsonBody(request, bytes, limits.jsonDepth));
  if (isForm(type)) return parseForm(bytes);
  if (mode === 'json') throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(contentType);
  if (isMultipart(type)) {
    const { parts, files } = PART_LIMITS;
    const limits = { parts, files: keepFile === null ? parts : files, fieldBytes: bytes.byteLength };
    return toFields(await readParts(Readable.from([bytes]), request.headers, limits, keepFile ?? describe));
  }
  if (keepFile === null) return readText(bytes, contentType);
  return keepFile(arrived({ name: fileName(undefined), type: mediaType(contentType) }, bytes));
}

/** A file that is held already. */
function arrived(file: Pick<ArrivingFile, 'name' | 'type'>, bytes: Uint8Array): ArrivingFile {
  async function* source(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  return { ...file, declaredBytes: bytes.byteLength, source: source() };
}

/** A blank body counts as `{}`; null is a value. */
function orEmpty(data: JsonValue | undefined): JsonValue {
  return data === undefined ? {} : data;
}

function readText(bytes: Buffer, contentType = ''): string {
  refuseOtherCharsets(contentType);
  if (!isUtf8(bytes)) throw new ApiError('invalid_body', message('api.body_not_utf8'));
  return bytes.toString('utf8');
}

/** A form as an object of strings; a repeated name has the list of its values. */
function parseForm(bytes: Buffer): JsonValue {
  if (hasMoreThan(bytes, '&', MAX_FIELDS - 1)) {
    throw new ApiError('invalid_body', message('api.form_too_many_fields', { max: MAX_FIELDS }));
  }
  if (!isUtf8(unescapeBytes(bytes))) throw new ApiError('invalid_body', message('api.form_not_utf8'));
  return toFields(new URLSearchParams(bytes.toString('utf8')));
}

/** Fields as an object; a repeated name has the list of its values. */
export function toFields(pairs: Iterable<readonly [string, JsonValue]>): JsonValue {
  const fields: { [name: string]: JsonValue } = {};
  for (const [name, values] of Map.groupBy(pairs, ([each]) => each)) {
    const given = values.map(([, value]) => value);
    const [only = '', ...others] = given;
    setOwn(fields, name, others.length === 0 ? only : given);
  }
  return fields;
}

/** The bytes represented by a form's percent escapes, and every other byte unchanged. */
function unescapeBytes(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  if (!text.includes('%')) return bytes;
  const plain = text.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, 'latin1');
}

/** Of a file that isn't kept: what describes it. */
async function describe({ name, type, source }: ArrivingFile): Promise<JsonValue> {
  let size = 0;
  for await (const chunk of source) size += chunk.byteLength;
  return { name, type, size };
}

function hasMoreThan(bytes: Buffer, text: string, most: number): boolean {
  let count = 0;
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + text.length)) {
    count += 1;
    if (count > most) return true;
  }
  return false;
}
