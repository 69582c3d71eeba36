import type { FollowedTurn } from '@millrace/chat/turns';
import { isFinalStatus, type JsonValue } from '@millrace/engine';
import { eventsOf, formatEvent } from '@millrace/http/event-stream';
import type { Watch } from '@millrace/runtime/watch';
import type { TurnEnd } from './turn-end.ts';

/**
 * The events of a turn: `state` whenever it changes, `text` with what was written since the last one, and `end`. A text that isn't continued but
 * replaced, as by the next step of an agent, is sent from where it differs.
 * `ask` has what the visitor is asked, whenever that changes while the execution waits.
 */
export function followTurn(
  read: () => Promise<FollowedTurn | undefined>,
  watch: Watch,
  {
    questionsOf,
    endOf,
  }: {
    readonly questionsOf: (turn: FollowedTurn) => Promise<JsonValue>;
    /** What became of a turn whose execution has ended. */
    readonly endOf: (turn: FollowedTurn) => Promise<TurnEnd>;
  },
): AsyncGenerator<string> {
  let shownState = '';
  let asked = NOTHING_ASKED;
  let shown = '';
  return eventsOf(watch, async () => {
    const turn = await read();
    if (turn === undefined) return { text: '', isLast: true };
    if (turn.outcome !== null || isFinalStatus(turn.status))
      return { text: event('end', { ...(await endOf(turn)) }), isLast: true };
    const state = turn.status === 'waiting_async' ? 'waiting' : 'running';
    let text = state === shownState ? '' : event('state', { state });
    shownState = state;
    const questions =
      state === 'waiting' ? event('ask', { questions: await questionsOf(turn) }) : NOTHING_ASKED;
    if (questions !== asked) text += questions;
    asked = questions;
    if (turn.written !== null && turn.written !== shown) {
      const from = commonLength(shown, turn.written);
      text += event('text', { from, text: turn.written.slice(from) });
      shown = turn.written;
    }
    return { text, isLast: false };
  });
}

const NOTHING_ASKED = event('ask', { questions: [] });

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
