/**
 * What the page uses of i18next, in a fifteenth of its size. The build puts it in the place of the library, whose types stay; a test compares both
 * over all texts.
 */
type Branch = { readonly [name: string]: string | Branch };

export interface TextOptions {
  /** Chooses the plural, if it is a number. */
  readonly count?: unknown;
  readonly ns?: string;
  readonly defaultValue?: string;
  /** Values to fill in, if not the options themselves. */
  readonly replace?: { readonly [name: string]: unknown };
  readonly [name: string]: unknown;
}

export type Translate = (key: string, options?: TextOptions) => string;

const NAMESPACE = 'translation';
const FALLBACK = 'en';

/** An instance, as i18next's `createInstance` makes them. */
export class I18n {
  language = FALLBACK;
  readonly #bundles = new Map<string, Branch>();
  readonly #plurals = new Map<string, Intl.PluralRules>();
  readonly #listeners = new Set<() => void>();
  /** A new function for each language, so that what was rendered with the old one is rendered again. */
  t: Translate = this.#translator();

  /** Plug-ins of i18next aren't needed here. */
  use(): this {
    return this;
  }

  async init({
    lng,
    resources,
  }: {
    lng: string;
    resources: { [language: string]: { [ns: string]: object } };
  }) {
    for (const [language, namespaces] of Object.entries(resources)) {
      for (const [ns, texts] of Object.entries(namespaces)) this.addResourceBundle(language, ns, texts);
    }
    await this.changeLanguage(lng);
  }

  /** Adds texts; those that are there already stay. */
  addResourceBundle(language: string, ns: string, texts: object): void {
    const at = `${language} ${ns}`;
    this.#bundles.set(at, merge(this.#bundles.get(at) ?? {}, texts as Branch));
  }

  getResourceBundle(language: string, ns: string): object | undefined {
    return this.#bundles.get(`${language} ${ns}`);
  }

  async changeLanguage(language: string): Promise<void> {
    this.language = language;
    this.t = this.#translator();
    for (const tell of this.#listeners) tell();
  }

  exists(key: string, options: TextOptions = {}): boolean {
    return this.textOf(key, options) !== undefined;
  }

  /** Calls back after each change of the language. @returns ends that */
  readonly subscribe = (tell: () => void): (() => void) => {
    this.#listeners.add(tell);
    return () => this.#listeners.delete(tell);
  };

  /** A text with its placeholders; undefined if no language has it. */
  textOf(key: string, { count, ns = NAMESPACE }: TextOptions): string | undefined {
    for (const language of new Set([this.language, FALLBACK])) {
      const texts = this.#bundles.get(`${language} ${ns}`);
      const counted =
        typeof count === 'number' ? find(texts, key + this.#ending(language, count)) : undefined;
      const text = counted ?? find(texts, key);
      if (typeof text === 'string') return text;
    }
    return undefined;
  }

  #ending(language: string, count: number): string {
    const rules = this.#plurals.get(language) ?? new Intl.PluralRules(language);
    this.#plurals.set(language, rules);
    return `_${rules.select(count)}`;
  }

  #translator(): Translate {
    return (key, options = {}) =>
      fillIn(this.textOf(key, options) ?? options.defaultValue ?? key, options, this.language);
  }
}

/** `{{name}}` and `{{names, list(type: disjunction)}}`, the one format that texts use. */
const PLACEHOLDER = /\{\{\s*(\w+)(?:,\s*list\(type: (\w+)\))?\s*\}\}/g;

/** Puts values in the place of their placeholders; what nobody fills in stays, as i18next leaves it. */
export function fillIn(text: string, { replace, ...options }: TextOptions, language: string): string {
  if (!text.includes('{{')) return text;
  const values = replace ?? options;
  return text.replace(PLACEHOLDER, (placeholder, name: string, list: Intl.ListFormatType | undefined) => {
    if (!Object.hasOwn(values, name)) return placeholder;
    const value = values[name] ?? '';
    if (list === undefined || !Array.isArray(value)) return toText(value);
    return new Intl.ListFormat(language, { type: list }).format(value as string[]);
  });
}

/** Texts, numbers and truth values are what texts are filled with; whatever else is shown as JavaScript would. */
function toText(value: unknown): string {
  return typeof value === 'string' ? value : `${value as number}`;
}

function find(texts: Branch | undefined, key: string): string | Branch | undefined {
  let found: string | Branch | undefined = texts;
  for (const name of key.split('.')) {
    if (typeof found !== 'object' || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

function merge(known: Branch, more: Branch): Branch {
  const merged: { [name: string]: string | Branch } = { ...more, ...known };
  for (const [name, part] of Object.entries(known)) {
    const added = Object.hasOwn(more, name) ? more[name] : undefined;
    if (typeof part === 'object' && typeof added === 'object') merged[name] = merge(part, added);
  }
  return merged;
}

const i18next = new I18n();
export default i18next;
