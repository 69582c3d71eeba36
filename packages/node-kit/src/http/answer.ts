import { Buffer } from 'node:buffer';
import { type HttpResponse, type JsonValue, type NodeContext, parseWork } from '@millrace/engine';
import type { HttpConfig } from './config.ts';

/** A response's body as a value; `body_type` says how it was parsed. */
export interface ReadBody {
  readonly body: JsonValue;
  readonly body_type: 'json' | 'text' | 'base64' | 'empty' | 'file';
}

type ResponseType = HttpConfig['response_type'];

/** Parses the body as requested; undefined when JSON was requested but it is something else. */
export async function readBody(
  response: HttpResponse,
  type: ResponseType,
  context: Pick<NodeContext, 'inTurns'>,
): Promise<ReadBody | undefined> {
  const { body, saved } = response;
  if (saved !== undefined) return { body: saved, body_type: 'file' };
  if (body.byteLength === 0) return { body: null, body_type: 'empty' };
  const contentType = response.headers['content-type'] ?? '';
  switch (type) {
    case 'base64':
      return base64(body);
    case 'text':
      return { body: decodeText(body, contentType), body_type: 'text' };
    case 'json':
      return readJson(body, context);
    // A file that wasn't saved is that of an unwanted status.
    case 'file':
    case 'auto':
      return (
        (isJson(contentType) ? await readJson(body, context) : undefined) ??
        readText(body, contentType) ??
        base64(body)
      );
  }
}

/** Whether the status is among the given ones and ranges (`200-299`). */
export function isSuccess(status: number, statuses: HttpConfig['success_statuses']): boolean {
  return statuses.some((each) => {
    const [low, high] = String(each).split('-').map(Number);
    return low !== undefined && status >= low && status <= (high ?? low);
  });
}

/** Whether another attempt could succeed: RFC 9110, 8470 (425) and 6585 (429). */
export function isRetryable(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

function isJson(contentType: string): boolean {
  return /^[^;]*[/+]json\s*(;|$)/i.test(contentType);
}

async function readJson(
  body: Uint8Array,
  context: Pick<NodeContext, 'inTurns'>,
): Promise<ReadBody | undefined> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return { body: await context.inTurns((meter) => parseWork(text, meter)), body_type: 'json' };
  } catch (error) {
    // Text that isn't UTF-8, or not JSON.
    if (error instanceof TypeError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Text when the type or the bytes indicate so; undefined for anything binary. */
function readText(body: Uint8Array, contentType: string): ReadBody | undefined {
  if (/^text\/|charset=/i.test(contentType))
    return { body: decodeText(body, contentType), body_type: 'text' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return text.includes('\0') ? undefined : { body: text, body_type: 'text' };
  } catch {
    return undefined;
  }
}

function decodeText(body: Uint8Array, contentType: string): string {
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    // An unknown charset.
    return new TextDecoder().decode(body);
  }
}

function base64(body: Uint8Array): ReadBody {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64');
  return { body: text, body_type: 'base64' };
}
