import { type JsonValue, tryParseJson } from '@millrace/engine';
import { MAX_CONTENT_BYTES } from './source.ts';

/** The content of a message as a workflow reads it. */
export interface Content {
  /** Null if it isn't UTF-8, or too large. */
  readonly text: string | null;
  /** What the text says, if it is JSON. */
  readonly json: JsonValue;
  /** Of a content that isn't UTF-8. */
  readonly base64: string | null;
  readonly size: number;
  readonly is_too_large: boolean;
  readonly [member: string]: JsonValue;
}

/** @param size of the whole content, of which there may be less */
export function contentOf(bytes: Uint8Array, size = bytes.byteLength): Content {
  const nothing = { text: null, json: null, base64: null, size, is_too_large: false };
  if (size > MAX_CONTENT_BYTES) return { ...nothing, is_too_large: true };
  const text = utf8Of(bytes);
  if (text === null) return { ...nothing, base64: Buffer.from(bytes).toString('base64') };
  return { ...nothing, text, json: tryParseJson(text) ?? null };
}

function utf8Of(bytes: Uint8Array): string | null {
  try {
    // PostgreSQL stores no NUL in text.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
