import { type BeganTurn, MAX_OPEN_TURNS } from '@millrace/chat/turns';
import { type Message, message } from '@millrace/messages';

/** A refusal in words for visitors. */
export class ChatRefusal extends Error {
  readonly status: number;
  readonly said: Message;
  readonly retryAfterS: number | null;
  /** The conversation can't go on: another one can. */
  readonly ends: boolean;

  constructor(
    status: number,
    said: Message,
    { retryAfterS = null, ends = false }: { retryAfterS?: number | null; ends?: boolean } = {},
  ) {
    super('a chat was refused');
    this.status = status;
    this.said = said;
    this.retryAfterS = retryAfterS;
    this.ends = ends;
  }
}

/** Of a visitor who sends too much. */
export function tooOften(seconds: number): ChatRefusal {
  return new ChatRefusal(429, message('chat.too_often', { seconds }), { retryAfterS: seconds });
}

/** Of a turn that can't begin. */
export function turnRefusal(because: Extract<BeganTurn, { kind: 'refused' }>['because']): ChatRefusal {
  switch (because) {
    case 'open':
      return new ChatRefusal(429, message('chat.open', { max: MAX_OPEN_TURNS }), { retryAfterS: 5 });
    case 'turns':
      return new ChatRefusal(409, message('chat.full'), { ends: true });
    case 'sessions':
      return new ChatRefusal(429, message('chat.busy_all'), { retryAfterS: 600 });
  }
}
