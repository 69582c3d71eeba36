import type { Sample } from '@millrace/admin-api';
import { formatTimestamp, parseJson } from '@millrace/engine';
import { formatEvent } from '@millrace/http/event-stream';
import { presentMessage } from '@millrace/messages/english';
import type { Watch } from '@millrace/runtime/watch';
import type { ListeningRow } from '@millrace/service/samples/store';

/** Regular comment lines keep proxies from closing a quiet stream, and reveal that the client is gone. */
const HEARTBEAT_MS = 15_000;

export interface ListeningSource {
  read(): Promise<ListeningRow>;
  /** The current sample. */
  readSample(): Promise<Sample | null>;
}

/**
 * The server-sent events of a listening client: `listening` at the start and on each extension, `refused` for the last refused call, then
 * `sample` or `ended`.
 * @param after the revision of the sample that the client knows
 */
export async function* streamListening(
  source: ListeningSource,
  watch: Watch,
  after: number,
): AsyncGenerator<string> {
  let announced: number | null = null;
  let refusedAt = 0;
  let quietSince = performance.now();
  try {
    for (;;) {
      const { until, revision, refused_at: at, refusal } = await source.read();
      const sample = revision > after ? await source.readSample() : null;
      if (sample !== null) {
        yield formatEvent('sample', sample, sample.revision);
        return;
      }
      if (until === null) {
        yield formatEvent('ended', {}, null);
        return;
      }
      if (until.getTime() !== announced) {
        announced = until.getTime();
        quietSince = performance.now();
        yield formatEvent('listening', { until: formatTimestamp(until) }, null);
      }
      if (at !== null && refusal !== null && at.getTime() !== refusedAt) {
        refusedAt = at.getTime();
        quietSince = performance.now();
        const { message, ...rest } = parseJson(refusal);
        yield formatEvent('refused', { at: formatTimestamp(at), ...rest, ...presentMessage(message) }, null);
      }
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
