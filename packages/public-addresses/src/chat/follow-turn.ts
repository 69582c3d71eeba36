import type { FollowedTurn } from '@millrace/chat/turns';
import { isFinalStatus, type JsonValue } from '@millrace/engine';
import { formatEvent } from '@millrace/http/event-stream';
import type { Watch } from '@millrace/runtime/watch';

/** Regular comment lines keep proxies from closing a quiet stream, and reveal that the reader is gone. */
const HEARTBEAT_MS = 15_000;

/** What became of a turn, in the words of the page. */
export type TurnEnd = { readonly outcome: 'answered' | 'failed'; readonly answer: string };

/**
 * The events of a turn: `state` whenever it changes, `text` with what was written since the last one, and `end`. A text that isn't continued but
 * replaced, as by the next step of an agent, is sent from where it differs.
 * @param endOf what became of a turn whose execution has ended
 */
export async function* followTurn(
  read: () => Promise<FollowedTurn | undefined>,
  watch: Watch,
  endOf: (turn: FollowedTurn) => Promise<TurnEnd>,
): AsyncGenerator<string> {
  let shownState = '';
  let shown = '';
  let quietSince = performance.now();
  try {
    for (;;) {
      const turn = await read();
      if (turn === undefined) return;
      if (turn.outcome !== null || isFinalStatus(turn.status)) {
        yield event('end', { ...(await endOf(turn)) });
        return;
      }
      const state = turn.status === 'waiting_async' ? 'waiting' : 'running';
      if (state !== shownState) yield event('state', { state });
      if (turn.written !== null && turn.written !== shown) {
        const from = commonLength(shown, turn.written);
        yield event('text', { from, text: turn.written.slice(from) });
        shown = turn.written;
        quietSince = performance.now();
      }
      shownState = state;
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

function event(name: string, data: JsonValue): string {
  return formatEvent(name, data, null);
}

/** In whole characters: half of a pair can't be sent. */
function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  const isInPair = length > 0 && /[\uD800-\uDBFF]/.test(b.charAt(length - 1));
  return isInPair ? length - 1 : length;
}
