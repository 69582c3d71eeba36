import { inEnglish } from './english.ts';
import { ja } from './ja.ts';
import type { Message } from './message.ts';
import { render } from './render.ts';

/** `{{name}}`, or `{{name, list(type: conjunction)}}` for a list of messages. */
const PLACEHOLDER = /\{\{(\w+)(?:, list\(type: (conjunction|disjunction)\))?\}\}/g;

const TEXTS: { readonly [part: string]: { readonly [name: string]: string } } = ja;

/** The Japanese sentence, for pages that the service renders itself. A test compares it with what i18next renders from the same texts. */
export function inJapanese(said: Message): string {
  return render(said, (part, name, params) => {
    const table = TEXTS[part] ?? {};
    // Japanese has one form for all numbers.
    const text = ('count' in params ? table[`${name}_other`] : undefined) ?? table[name] ?? inEnglish(said);
    return text.replaceAll(
      PLACEHOLDER,
      (_, param: string, list: 'conjunction' | 'disjunction' | undefined) => {
        const value = params[param] ?? '';
        return typeof value === 'object'
          ? new Intl.ListFormat('ja', { type: list ?? 'conjunction' }).format(value)
          : String(value);
      },
    );
  });
}
