import type { Message } from '@millrace/messages';

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
