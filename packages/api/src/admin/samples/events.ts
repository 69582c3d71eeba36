import type { Sample } from '@millrace/admin-api';
import { formatTimestamp } from '@millrace/engine';
import type { Watch } from '@millrace/runtime/watch';
import type { ListeningRow } from '@millrace/service/samples/store';
import { formatEvent } from '../../public/executions/events.ts';

/** A comment line now and then keeps proxies from closing a quiet stream, and tells when the client is gone. */
const HEARTBEAT_MS = 15_000;

/** Where a stream reads from. */
export interface ListeningSource {
  read(): Promise<ListeningRow>;
  /** The sample as it is now. */
  readSample(): Promise<Sample | null>;
}

/**
 * The server-sent events of somebody who listens: `listening` at the start and when it was made longer, then `sample`
 * or `ended`.
 * @param after the revision of the sample that the client knows
 */
export async function* streamListening(
  source: ListeningSource,
  watch: Watch,
  after: number,
): AsyncGenerator<string> {
  let told: number | null = null;
  let quietSince = performance.now();
  try {
    for (;;) {
      const { until, revision } = await source.read();
      const sample = revision > after ? await source.readSample() : null;
      if (sample !== null) {
        yield formatEvent('sample', sample, sample.revision);
        return;
      }
      if (until === null) {
        yield formatEvent('ended', {}, null);
        return;
      }
      if (until.getTime() !== told) {
        told = until.getTime();
        quietSince = performance.now();
        yield formatEvent('listening', { until: formatTimestamp(until) }, null);
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
