import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { stringifyJson } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { newRequestId, PROBLEM_TYPE, toProblem } from './problem.ts';

/** The error of Node's `clientError` event. */
interface ClientError extends Error {
  readonly code?: string | undefined;
  /** The bytes that couldn't be parsed. */
  readonly rawPacket?: unknown;
}

/**
 * Creates the handler that responds to what Node couldn't parse as a request, in the format of all other errors, and closes the connection.
 * @param headerBytes maximum length of headers, including the request line
 */
export function createClientErrorHandler(headerBytes: number): (error: ClientError, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
      socket.destroy();
      return;
    }
    const problem = toProblem(toPublicError(error, socket, headerBytes), '/', newRequestId());
    const body = stringifyJson(problem);
    const head = [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
      `Content-Type: ${PROBLEM_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${problem.request_id}`,
      'Cache-Control: no-store',
      'Connection: close',
    ];
    // What the client is still sending is read and dropped for a moment, because a reset would discard the response.
    socket.resume();
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}

const LINGER_MS = 1_000;

function toPublicError(error: ClientError, socket: Socket, headerBytes: number): ApiError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return isUrlTooLong(error, socket, headerBytes)
        ? new ApiError('uri_too_long', message('api.url_too_long_for_limit', { bytes: headerBytes }))
        : new ApiError('headers_too_large', message('api.headers_too_large', { bytes: headerBytes }));
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('request_timeout', message('api.request_timeout'));
    default:
      return new ApiError('invalid_request', message('api.request_malformed'));
  }
}

function isUrlTooLong({ rawPacket }: ClientError, socket: Socket, headerBytes: number): boolean {
  if (!Buffer.isBuffer(rawPacket) || socket.bytesRead !== rawPacket.length) return false;
  const endOfRequestLine = rawPacket.indexOf('\n');
  return endOfRequestLine === -1 || endOfRequestLine > headerBytes;
}
