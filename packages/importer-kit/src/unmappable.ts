import type { Message } from '@millrace/messages';

/** A node can't be made: its place is taken by a placeholder that says why. */
export class Unmappable extends Error {
  readonly reason: Message;

  constructor(reason: Message) {
    super(reason.key);
    this.reason = reason;
  }
}
