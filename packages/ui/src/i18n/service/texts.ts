/**
 * Translations of the service's texts (docs/adr/0018). Every table is keyed by the English text itself, so that a
 * changed text stays English until it is retranslated; a key prefixed with a type and JSON pointer takes precedence.
 */
export interface ServiceTexts {
  /** Titles, descriptions and examples of node types; `<type><pointer in the config's schema>` for a single occurrence. */
  readonly nodes: Table;
  /** Labels of a choice's values; `<type>/<value>` for a single type. */
  readonly choices: Table;
  /** Other words people look for a node type by, by type. */
  readonly synonyms: { readonly [type: string]: readonly string[] | undefined };
  /** A choice's label combined with its value. */
  readonly withValue: (word: string, value: string) => string;
}

export type Table = { readonly [text: string]: string };
