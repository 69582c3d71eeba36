import { TEMPLATE_CATEGORIES, type Template } from '@millrace/admin-api';
import type { KnownType } from '@millrace/editor-model/editor-state.ts';
import type { GallerySearch } from './gallery-search.ts';

/**
 * Templates in which every word occurs: in their texts, or in the names and synonyms of their nodes. Those with all words in their name come first.
 * Otherwise they are in the order of their categories.
 * @param templates in the reader's language
 */
export function searchTemplates(
  templates: readonly Template[],
  { search = '', category }: GallerySearch,
  nodeTypes: ReadonlyMap<string, KnownType>,
): readonly Template[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = templates.filter(
    (template) =>
      (category === undefined || template.categories.some((each) => each === category)) &&
      isIn(words, textsOf(template, nodeTypes)),
  );
  const rankOf = ({ name, categories: [first = 'sales'] }: Template) =>
    TEMPLATE_CATEGORIES.indexOf(first) -
    (words.length > 0 && isIn(words, [name]) ? TEMPLATE_CATEGORIES.length : 0);
  return found.toSorted((a, b) => rankOf(a) - rankOf(b));
}

function isIn(words: readonly string[], texts: readonly string[]): boolean {
  const all = texts.join('\n').toLowerCase();
  return words.every((word) => all.includes(word));
}

function textsOf(template: Template, nodeTypes: ReadonlyMap<string, KnownType>): readonly string[] {
  const { name, summary, description, tags, node_types: types } = template;
  const nodes = types.flatMap((type) => {
    const { title = '', synonyms = [] } = nodeTypes.get(type) ?? {};
    return [type, title, ...synonyms];
  });
  return [name, summary, description, ...tags, ...nodes];
}
