import { isMessage, type MessageParams } from '@millrace/messages';
import { type RenderedParams, render } from '@millrace/messages/render';
import i18next from 'i18next';

/** A message of the service: the English text, its key and its parameters. */
export interface Said {
  readonly message: string;
  /** Absent if something in front of the service responded, such as a proxy. */
  readonly key?: string;
  readonly params?: MessageParams;
}

/** A message of the service in the reader's language; its own English if there is no translation. */
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

/** Typed like any other text's options: the namespaces of the service's texts are known only to its own types. */
function optionsOf(ns: string, params: RenderedParams) {
  const { count } = params;
  return { ns: ns as 'translation', replace: params, ...(typeof count === 'number' ? { count } : {}) };
}
