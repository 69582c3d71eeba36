import { Readable } from 'node:stream';
import { type JsonValue, stringifyJson } from '@millrace/engine';
import type { Watch } from '@millrace/runtime/watch';
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

/** Regular comment lines keep proxies from closing a quiet stream, and reveal that the reader is gone. */
const HEARTBEAT_MS = 15_000;

/** What a stream says after it has looked. */
export interface Look {
  /** Events since the look before; empty for none. */
  readonly text: string;
  /** Nothing follows. */
  readonly isLast: boolean;
  /** Minimum time until the next look. */
  readonly pauseMs?: number;
}

/** Looks at the start and after each change, and sends what there is to say; closes the watch in the end. */
export async function* eventsOf(watch: Watch, look: () => Promise<Look>): AsyncGenerator<string> {
  let quietSince = performance.now();
  try {
    for (;;) {
      const { text, isLast, pauseMs = 0 } = await look();
      if (text !== '') {
        quietSince = performance.now();
        yield text;
      }
      if (isLast) return;
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      await watch.next();
      if (watch.isOver) return;
      if (performance.now() - quietSince > HEARTBEAT_MS) {
        quietSince = performance.now();
        yield ': nothing new\n\n';
      }
    }
  } finally {
    watch.close();
  }
}
