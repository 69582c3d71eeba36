import { type Message, message } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import type { Choice } from '@millrace/service/callbacks/store';
import type { Use } from '@millrace/service/callbacks/use';
import type { Reader } from '../pages/reader.ts';

/** Texts of a page on which nothing can be decided any longer; `decision` is the label of the choice. */
export const CLOSED: { readonly [U in Use]: (decision: string) => { heading: Message; text: Message } } = {
  accepted: (decision) => ({
    heading: message('approval.accepted'),
    text: message('approval.accepted_text', { decision }),
  }),
  used: (decision) => ({
    heading: message('approval.used'),
    text: message('approval.used_text', { decision }),
  }),
  ended: () => ({ heading: message('approval.ended'), text: message('approval.ended_text') }),
  expired: () => ({ heading: message('approval.expired'), text: message('approval.expired_text') }),
  unknown: () => ({ heading: message('approval.unknown'), text: message('approval.unknown_text') }),
};

/** The choices of a question whose author sets none, by id. */
const PRESET = new Map([
  ['approve', message('approval.approve')],
  ['reject', message('approval.reject')],
]);

/** A default choice is shown in the reader's language; an author's own labels stay unchanged. */
export function named({ id, label }: Choice, { say }: Reader): Choice {
  const preset = PRESET.get(id);
  return { id, label: preset !== undefined && inEnglish(preset) === label ? say(preset) : label };
}
