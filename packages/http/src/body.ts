import { isUtf8 } from 'node:buffer';
import { findJsonMistake, type JsonValue, jsonDepthExceeds, parseJson } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { type Message, message } from '@millrace/messages';
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the body may contain characters that are refused; set by the JSON parser. */
    bodyNeedsScan: boolean;
    /** Whether there may be files in the body; set by the JSON parser. */
    bodyMayNameFiles: boolean;
    /** The body's bytes as sent: of a webhook's call, which may be signed and whose settings say how to read it. */
    rawBody: Buffer | null;
  }
}

/** Reads JSON bodies without loss; every other media type is refused with 415. */
export function addJsonBodies(app: FastifyInstance, limits: { readonly jsonDepth: number }): void {
  app.decorateRequest('bodyNeedsScan', false);
  app.decorateRequest('bodyMayNameFiles', false);
  app.decorateRequest('rawBody', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, jsonParser(limits));
}

/**
 * Accepts JSON under other media types, for endpoints called by systems that can't be changed: `text/json`, `application/*+json`, JSON sent
 * as `text/plain` (Amazon SNS does this) or without a type. Other types remain 415.
 */
export function addForeignJsonBodies(
  app: FastifyInstance,
  { limits }: { readonly limits: { readonly jsonDepth: number } },
): void {
  const parse = jsonParser(limits);
  for (const type of ['text/json', 'text/plain', /^application\/[\w.!#$&^-]+\+json(?:\s*;|$)/i])
    app.addContentTypeParser(type, { parseAs: 'buffer' }, parse);
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (request.headers['content-type'] === undefined) parse(request, bytes, done);
    else done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(request.headers['content-type']), undefined);
  });
}

/** Whether bodies of a media type, in lower case and without parameters, are JSON where {@link addForeignJsonBodies} accepts them. */
export function isJsonType(type: string): boolean {
  return /^(?:application\/json|text\/json|text\/plain|application\/[\w.!#$&^-]+\+json)$/.test(type);
}

type BodyParser = (
  request: FastifyRequest,
  bytes: string | Buffer,
  done: (error: Error | null, body?: unknown) => void,
) => void;

function jsonParser({ jsonDepth }: { readonly jsonDepth: number }): BodyParser {
  return (request, bytes, done) => {
    try {
      done(null, readJsonBody(request, bytes as Buffer, jsonDepth));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)), undefined);
    }
  };
}

/**
 * Refuses compressed bodies before they are read: their uncompressed size is unknown.
 * @throws ApiError `unsupported_media_type`
 */
export function refuseContentEncoding(request: FastifyRequest): void {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return;
  throw new ApiError('unsupported_media_type', message('api.body_compressed'), {
    headers: { 'accept-encoding': 'identity' },
  });
}

/**
 * Reads a JSON body without loss; undefined if it is blank.
 * @throws ApiError `invalid_body`, `invalid_json`, `json_too_deep`, `unsupported_media_type`
 */
export function readJsonBody(request: FastifyRequest, bytes: Buffer, deepest: number): JsonValue | undefined {
  refuseOtherCharsets(request.headers['content-type'] ?? '');
  if (!isUtf8(bytes)) throw new ApiError('invalid_body', message('api.body_not_utf8'));
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  if (text.trim() === '') return undefined;
  // A refused character can only come from an escape; without one there is no need to walk the value.
  request.bodyNeedsScan = text.includes('\\u');
  // Or in other letters, by escapes.
  request.bodyMayNameFiles = request.bodyNeedsScan || text.includes('"$file"');
  return parseJsonText(text, deepest);
}

/**
 * Parses JSON text without loss.
 * @param deepest levels of nesting allowed
 * @throws ApiError `invalid_json`, `json_too_deep`
 */
export function parseJsonText(text: string, deepest: number): JsonValue {
  if (jsonDepthExceeds(text, deepest)) {
    throw new ApiError('json_too_deep', message('api.json_too_deep', { levels: deepest }));
  }
  try {
    return parseJson(text);
  } catch (error) {
    throw new ApiError('invalid_json', whereItFails(text), { cause: error });
  }
}

/** @throws ApiError `unsupported_media_type` unless it is UTF-8 */
export function refuseOtherCharsets(contentType: string): void {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1];
  if (charset === undefined || /^utf-?8$/i.test(charset)) return;
  throw new ApiError('unsupported_media_type', message('api.body_charset'));
}

/** Only the position, because the body may contain secrets. */
function whereItFails(text: string): Message {
  const position = findJsonMistake(text);
  return position === text.length
    ? message('api.json_incomplete')
    : message('api.json_mistake', { position: position + 1 });
}
