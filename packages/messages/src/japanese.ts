import { inEnglish } from './english.ts';
import { ja } from './ja.ts';
import type { Message } from './message.ts';
import { render } from './render.ts';

const TEXTS: { readonly [part: string]: { readonly [name: string]: string } } = ja;

/** The Japanese sentence for a message without plurals or lists, for the page that the service renders itself. */
export function inJapanese(said: Message): string {
  return render(said, (part, name, params) => {
    const text = TEXTS[part]?.[name] ?? inEnglish(said);
    return text.replaceAll(/\{\{(\w+)\}\}/g, (_, param: string) => String(params[param] ?? ''));
  });
}
