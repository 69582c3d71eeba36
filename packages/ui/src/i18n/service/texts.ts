/**
 * What the service says, in another language (docs/adr/0018). Every table is keyed by the English text itself, so that
 * a text that changes is English until it is translated anew; a key with a type and JSON pointer in front goes before.
 */
export interface ServiceTexts {
  /** Titles, descriptions and examples of node types; `<type><pointer in the config's schema>` for a text of one place. */
  readonly nodes: Table;
  /** Words for the values of a choice; `<type>/<value>` for those of one type. */
  readonly choices: Table;
  /** Sentences; `{}` stands for what changes, `{0}`, `{1}` ... in the translation for the first, the second ... */
  readonly sentences: Table;
  /** What stands in the place of a `{}`. */
  readonly parts: Table;
  /** Names and descriptions of the gallery's workflows. */
  readonly templates: Table;
  /** A sentence behind the name of what it is about. */
  readonly about: (name: string, sentence: string) => string;
  /** A sentence behind the label of the node it is about. */
  readonly atNode: (label: string, sentence: string) => string;
  /** A mistake in a template, and at which letter. */
  readonly atCharacter: (at: string, sentence: string) => string;
  /** The word for a value of a choice, and the value. */
  readonly withValue: (word: string, value: string) => string;
  readonly quote: (name: string) => string;
}

export type Table = { readonly [text: string]: string };
