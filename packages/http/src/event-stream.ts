import { Readable } from 'node:stream';
import { type JsonValue, stringifyJson } from '@millrace/engine';
import type { FastifyReply } from 'fastify';

/** One server-sent event. JSON text has no line breaks, so it fits in one data line. */
export function formatEvent(event: string, data: JsonValue, id: number | null): string {
  return `event: ${event}\n${id === null ? '' : `id: ${id}\n`}data: ${stringifyJson(data)}\n\n`;
}

/** Responds with server-sent events. */
export function sendEvents(reply: FastifyReply, events: AsyncIterable<string>): FastifyReply {
  reply.header('content-type', 'text/event-stream; charset=utf-8');
  // Buffering proxies would delay events.
  reply.header('x-accel-buffering', 'no');
  return reply.send(Readable.from(events, { objectMode: false }));
}
