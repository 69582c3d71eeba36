import type { IncomingHttpHeaders } from 'node:http';
import type { Message } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { inJapanese } from '@millrace/messages/japanese';
import Negotiator from 'negotiator';

const LANGUAGES = { en: inEnglish, ja: inJapanese };
type Language = keyof typeof LANGUAGES;

/** Who reads a hosted page. */
export interface Reader {
  readonly language: Language;
  readonly say: (said: Message) => string;
}

/** The available language that the reader's browser prefers, else English. */
export function readerOf(headers: IncomingHttpHeaders): Reader {
  const [language = 'en'] = new Negotiator({ headers }).languages(Object.keys(LANGUAGES)) as Language[];
  return readerIn(language);
}

/** Who reads a page in a language that its author has chosen. */
export function readerIn(language: Language): Reader {
  return { language, say: LANGUAGES[language] };
}
