import type { Sample } from '@millrace/admin-api';
import { formatTimestamp, parseJson } from '@millrace/engine';
import { eventsOf, formatEvent } from '@millrace/http/event-stream';
import { presentMessage } from '@millrace/messages/english';
import type { Watch } from '@millrace/runtime/watch';
import type { ListeningRow } from '@millrace/service/samples/store';

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
export function streamListening(
  source: ListeningSource,
  watch: Watch,
  after: number,
): AsyncGenerator<string> {
  let announced: number | null = null;
  let refusedAt = 0;
  return eventsOf(watch, async () => {
    const { until, revision, refused_at: at, refusal } = await source.read();
    const sample = revision > after ? await source.readSample() : null;
    if (sample !== null) return { text: formatEvent('sample', sample, sample.revision), isLast: true };
    if (until === null) return { text: formatEvent('ended', {}, null), isLast: true };
    let text = '';
    if (until.getTime() !== announced) {
      announced = until.getTime();
      text += formatEvent('listening', { until: formatTimestamp(until) }, null);
    }
    if (at !== null && refusal !== null && at.getTime() !== refusedAt) {
      refusedAt = at.getTime();
      const { message, ...rest } = parseJson(refusal);
      text += formatEvent('refused', { at: formatTimestamp(at), ...rest, ...presentMessage(message) }, null);
    }
    return { text, isLast: false };
  });
}
