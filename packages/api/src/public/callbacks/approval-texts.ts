import type { IncomingHttpHeaders } from 'node:http';
import { type Message, message } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { inJapanese } from '@millrace/messages/japanese';
import type { Choice } from '@millrace/service/callbacks/store';
import type { Use } from '@millrace/service/callbacks/use';
import Negotiator from 'negotiator';

const LANGUAGES = { en: inEnglish, ja: inJapanese };
type Language = keyof typeof LANGUAGES;

/** The reader of an approval page. */
export interface Reader {
  readonly language: Language;
  readonly say: (said: Message) => string;
}

/** The available language that the reader's browser prefers, else English. */
export function readerOf(headers: IncomingHttpHeaders): Reader {
  const [language = 'en'] = new Negotiator({ headers }).languages(Object.keys(LANGUAGES)) as Language[];
  return { language, say: LANGUAGES[language] };
}

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
