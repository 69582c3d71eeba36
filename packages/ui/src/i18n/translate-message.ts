import { isMessage, type MessageParams } from '@millrace/messages';
import { type RenderedParams, render } from '@millrace/messages/render';
import i18next from 'i18next';

/** What the service says: the English, and what it is made of. */
export interface Said {
  readonly message: string;
  /** Absent when something before the service answered, a proxy say. */
  readonly key?: string;
  readonly params?: MessageParams;
}

/** What the service says in the reader's language; its own English where the page has no other text. */
export function translateMessage(said: Said): string {
  if (i18next.language === 'en' || !isMessage(said)) return said.message;
  let isKnown = true;
  const text = render(said, (ns, name, params) => {
    const options = optionsOf(ns, params);
    isKnown &&= i18next.exists(name, options);
    return i18next.t(name, { defaultValue: said.message, ...options });
  });
  return isKnown ? text : said.message;
}

/** Typed as any other text's: namespaces of the service's texts are known by its own types only. */
function optionsOf(ns: string, params: RenderedParams) {
  const { count } = params;
  return { ns: ns as 'translation', replace: params, ...(typeof count === 'number' ? { count } : {}) };
}
