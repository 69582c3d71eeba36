import { Readable } from 'node:stream';
import type { JsonValue } from '@millrace/engine';
import { isJsonType } from '@millrace/http/body';
import { isForm, isMultipart, typeOf } from '@millrace/http/media-type';
import { bodyAsFile, type KeepPart, readParts } from '@millrace/http/parts';
import { errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { PART_LIMITS, toFields } from './body.ts';

const TEXT = 'text/plain';

/**
 * Keeps the bytes of JSON and simple forms, and leaves all other bodies unread: they may be files of any size, and only the webhook's settings say
 * what becomes of them.
 */
export function keepOrLeaveBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, payload, done) => {
    if (mayBeFile(request)) done(null, payload);
    else
      collect(request, payload).then((bytes) => {
        request.rawBody = bytes;
        done(null, undefined);
      }, done);
  });
}

function mayBeFile({ headers, routeOptions }: FastifyRequest): boolean {
  const type = typeOf(headers['content-type']);
  // JSON is sent like that, too, but not as much of it.
  if (type === TEXT) return Number(headers['content-length'] ?? 0) > (routeOptions.bodyLimit ?? 0);
  return type !== undefined && !isForm(type) && !isJsonType(type);
}

/** @throws FastifyError for a body that was left unread: no webhook takes it as JSON */
export function refuseUnread(request: FastifyRequest): void {
  if (unreadBody(request) === null) return;
  const contentType = request.headers['content-type'];
  if (typeOf(contentType) === TEXT) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
  throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(contentType);
}

/** The body of a call that has been left unread; null if there is none. */
export function unreadBody({ body }: FastifyRequest): Readable | null {
  return body instanceof Readable && !body.destroyed ? body : null;
}

/** Ends the connection with the response if the body has been left unread: nobody will read the rest of it. */
export function closeUnread(request: FastifyRequest, reply: FastifyReply): void {
  if (unreadBody(request) !== null) reply.header('connection', 'close');
}

/** Keeps the bytes of a body that was left unread. @throws FastifyError for one that is too large or incomplete */
export async function readRest(request: FastifyRequest): Promise<void> {
  const body = unreadBody(request);
  if (body === null) return;
  request.rawBody = await collect(request, body);
  request.body = undefined;
  request.bodyRoom?.arrived();
}

/** As the framework reads bodies. */
async function collect({ headers, routeOptions }: FastifyRequest, body: Readable): Promise<Buffer> {
  const limit = routeOptions.bodyLimit ?? 0;
  const declared = headers['content-length'];
  if (declared !== undefined && Number(declared) > limit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
    chunks.push(chunk);
  }
  if (declared !== undefined && Number(declared) !== bytes)
    throw new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH();
  return Buffer.concat(chunks, bytes);
}

/**
 * The data of a call whose body is a file, or a form with files: they are passed on while they arrive.
 * @throws ApiError `invalid_body`, `body_too_large`; what `keepFile` throws
 */
export async function readArriving(
  request: FastifyRequest,
  body: Readable,
  keepFile: KeepPart<JsonValue>,
): Promise<JsonValue> {
  const { headers, routeOptions, bodyRoom } = request;
  // What isn't held takes no room, and nobody has to make room for it.
  bodyRoom?.release();
  request.body = undefined;
  if (isMultipart(typeOf(headers['content-type']))) {
    const limits = { ...PART_LIMITS, fieldBytes: routeOptions.bodyLimit ?? 0 };
    return toFields(await readParts(body, headers, limits, keepFile));
  }
  try {
    return await keepFile(bodyAsFile(body, headers), '');
  } finally {
    body.resume();
  }
}
