/**
 * What the service says, in another language (docs/adr/0018). Every table is keyed by the English text itself, so that
 * a text that changes is English until it is translated anew; a key with a type and JSON pointer in front goes before.
 */
export interface ServiceTexts {
  /** Titles, descriptions and examples of node types; `<type><pointer in the config's schema>` for a text of one place. */
  readonly nodes: Table;
  /** Words for the values of a choice; `<type>/<value>` for those of one type. */
  readonly choices: Table;
  /** Names and descriptions of the gallery's workflows. */
  readonly templates: Table;
  /** The word for a value of a choice, and the value. */
  readonly withValue: (word: string, value: string) => string;
}

export type Table = { readonly [text: string]: string };
