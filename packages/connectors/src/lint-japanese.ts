import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  joinPointer,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Connector } from './format.ts';
import type { ConnectorFault } from './lint-parts.ts';

/** Texts without a translation, and translations without a text. */
export function lintJapanese(connector: Connector): ConnectorFault[] {
  const missing = [...new Set(textsOf(connector))].filter((text) => !Object.hasOwn(connector.ja, text));
  return [
    ...missing.map((text) => ({
      pointer: '/ja',
      message: message('connectors.no_japanese', { text: JSON.stringify(text) }),
    })),
    ...lintUnusedJapanese(connector),
  ];
}

/** Translations of texts that the file doesn't have. */
export function lintUnusedJapanese(connector: Connector): ConnectorFault[] {
  const texts = new Set(textsOf(connector));
  const unused = Object.keys(connector.ja).filter((text) => !texts.has(text));
  return unused.map((text) => ({
    pointer: joinPointer('/ja', text),
    message: message('connectors.unused_japanese'),
  }));
}

/** Every text of a connector that people see. */
function textsOf({ title, authentication, operations, triggers = [] }: Connector): string[] {
  return [
    title,
    ...(authentication.types.length === 0 ? [] : [authentication.description]),
    ...[...operations, ...triggers].flatMap((operation) => [
      operation.title,
      operation.description,
      ...(operation.sections ?? []).map((section) => section.title),
      ...operation.exchanges.map((exchange) => exchange.title),
      ...Object.values(operation.settings).flatMap(wordsOf),
    ]),
  ];
}

/** Titles, descriptions and labels of a setting. */
function wordsOf(schema: JsonSchema): string[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === 'title' || keyword === 'description') return typeof value === 'string' ? [value] : [];
    if (keyword === 'properties')
      return Object.values(value as JsonObject).flatMap((each) => wordsOf(each as JsonSchema));
    if (keyword === 'items') return wordsOf(value as JsonSchema);
    if (keyword === 'anyOf' && isJsonArray(value as JsonValue))
      return (value as JsonSchema[]).flatMap(wordsOf);
    if (keyword === 'x-labels' && isJsonObject(value as JsonValue))
      return Object.values(value as { [name: string]: string });
    return [];
  });
}
