import { type FileEncoding, findJsonMistake, stringifyJson, tryParseJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import { DocumentFault } from '../documents/fault.ts';
import type { Host } from './host.ts';

/** Bytes that show whether a file is UTF-8. */
const SAMPLE_BYTES = 256 * 1024;

/**
 * A file's text, piece by piece, without a byte order mark. What isn't in the encoding becomes U+FFFD.
 */
export async function* decodedText(
  host: Host,
  input: number,
  encoding: FileEncoding,
): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  for await (const bytes of host.read(input)) {
    decoder ??= new TextDecoder(encoding === 'auto' ? guessEncoding(bytes) : encoding);
    yield decoder.decode(bytes, { stream: true });
  }
  if (decoder !== null) yield decoder.decode();
}

/** UTF-8 if its beginning is, Shift_JIS otherwise: that is what Japanese spreadsheets write. */
function guessEncoding(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  try {
    // A character at the end may be incomplete.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, SAMPLE_BYTES), { stream: true });
    return 'utf-8';
  } catch {
    return 'shift_jis';
  }
}

/** @throws DocumentFault document_output_too_large */
export async function wholeText(host: Host, encoding: FileEncoding, maxBytes: number): Promise<string> {
  const size = host.inputs[0]?.size ?? 0;
  // UTF-16 has two bytes for what is one in UTF-8; no other encoding takes more.
  if (size > 2 * maxBytes) throw fileTooLarge(maxBytes);
  const pieces: string[] = [];
  for await (const piece of decodedText(host, 0, encoding)) pieces.push(piece);
  return pieces.join('');
}

export async function readText(host: Host, encoding: FileEncoding, maxBytes: number): Promise<string> {
  return stringifyJson({ format: 'text', text: await wholeText(host, encoding, maxBytes) });
}

/**
 * A file's bytes as text.
 * @throws DocumentFault document_output_too_large
 */
export async function readBase64(host: Host, maxBytes: number): Promise<string> {
  // Three bytes become four characters.
  if (((host.inputs[0]?.size ?? 0) / 3) * 4 > maxBytes) throw fileTooLarge(maxBytes);
  const pieces: Uint8Array[] = [];
  for await (const bytes of host.read(0)) pieces.push(Uint8Array.from(bytes));
  return stringifyJson({ format: 'base64', base64: Buffer.concat(pieces).toString('base64') });
}

/** @throws DocumentFault invalid_data with line and column */
export async function readJsonText(host: Host, encoding: FileEncoding, maxBytes: number): Promise<string> {
  const text = await wholeText(host, encoding, maxBytes);
  const value = tryParseJson(text);
  if (value === undefined) throw notJson(text);
  return stringifyJson({ format: 'json', data: value });
}

function notJson(text: string): DocumentFault {
  const before = text.slice(0, findJsonMistake(text)).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return new DocumentFault('invalid_data', message('ports.file_not_json', { line: before.length, column }));
}

function fileTooLarge(max: number): DocumentFault {
  return new DocumentFault('document_output_too_large', message('ports.file_content_too_large', { max }));
}
