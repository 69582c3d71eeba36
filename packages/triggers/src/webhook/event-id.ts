import { type JsonValue, readField } from '@millrace/engine';
import { scalarText } from '@millrace/node-kit/values';
import type { DeduplicateOptions } from './options.ts';

/**
 * The sender's id of an event; null when the call has none. Only a text, number or boolean that isn't empty counts.
 * @param headers by lower-case name
 */
export function eventIdOf(
  { by, name }: Pick<DeduplicateOptions, 'by' | 'name'>,
  body: JsonValue,
  headers: { readonly [name: string]: string | readonly string[] | undefined },
  query: URLSearchParams,
): string | null {
  if (by === 'query') return query.get(name)?.trim() || null;
  if (by === 'path') return scalarText(readField(body, name)) || null;
  const header = name.toLowerCase();
  // Svix renames the headers of Standard Webhooks.
  const value = headers[header] ?? (header === 'webhook-id' ? headers['svix-id'] : undefined);
  return (typeof value === 'string' ? value.trim() : '') || null;
}
