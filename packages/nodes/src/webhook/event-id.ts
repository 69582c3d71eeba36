import type { JsonValue } from '@millrace/engine';
import { readPath, scalarText } from '../values.ts';
import type { DeduplicateOptions } from './options.ts';

/**
 * The id that tells an event from others, as its sender gave it; null when the call has none. A text, number or boolean
 * that is not empty counts, nothing else.
 * @param headers by lower-case name
 */
export function eventIdOf(
  { by, name }: Pick<DeduplicateOptions, 'by' | 'name'>,
  body: JsonValue,
  headers: { readonly [name: string]: string | readonly string[] | undefined },
): string | null {
  if (by === 'path') return scalarText(readPath(body, name)) || null;
  const header = name.toLowerCase();
  // Svix sends the headers of Standard Webhooks under names of its own.
  const value = headers[header] ?? (header === 'webhook-id' ? headers['svix-id'] : undefined);
  return (typeof value === 'string' ? value.trim() : '') || null;
}
