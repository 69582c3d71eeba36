import { cloneElement, Fragment, type ReactElement, type ReactNode, useSyncExternalStore } from 'react';
import i18next, { fillIn, type TextOptions, type Translate } from './i18next.ts';

/** For `i18next.use`, which ignores it here. */
export const initReactI18next = {};

const translator = () => i18next.t;

/** The function that translates into the current language, and what else there is to know of it. */
export function useTranslation(): { readonly t: Translate; readonly i18n: typeof i18next } {
  return { t: useSyncExternalStore(i18next.subscribe, translator, translator), i18n: i18next };
}

interface TransProps {
  i18nKey: string;
  count?: number;
  values?: { readonly [name: string]: unknown };
  /** By the name of their tag in the text. */
  components?: { readonly [tag: string]: ReactElement };
}

/** A text with elements in it: `Verified <moment/>`, `Run <command>millrace</command>`. They aren't nested. */
export function Trans({ i18nKey, count, values = {}, components = {} }: TransProps) {
  const { language } = useTranslation().i18n;
  const options: TextOptions = count === undefined ? values : { ...values, count };
  const text = i18next.textOf(i18nKey, options) ?? i18nKey;
  const parts: ReactNode[] = [];
  let end = 0;
  for (const { 0: whole, 1: tag = '', 2: inside, index } of text.matchAll(/<(\w+)(?:\s*\/>|>(.*?)<\/\1>)/g)) {
    const element = Object.hasOwn(components, tag) ? components[tag] : undefined;
    if (element === undefined) continue;
    parts.push(fillIn(text.slice(end, index), options, language));
    parts.push(
      inside === undefined ? element : cloneElement(element, undefined, fillIn(inside, options, language)),
    );
    end = index + whole.length;
  }
  parts.push(fillIn(text.slice(end), options, language));
  return parts.map((part, index) => <Fragment key={`part ${index}`}>{part}</Fragment>);
}
