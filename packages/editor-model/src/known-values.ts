import {
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonValue,
  stringifyJson,
  templateStep,
} from '@millrace/engine';
import type { Said } from '@millrace/ui/i18n/translate-message.ts';

/** A path that a template can read, with its value if known. */
export interface PathHint {
  readonly path: string;
  /** Undefined: unknown. */
  readonly value: JsonValue | undefined;
}

/** Something that templates can read, with everything in it. */
export interface DataSource extends PathHint {
  /** The node it comes from; null: not from a node. */
  readonly nodeId: string | null;
  /** The value only shows what a real one looks like. */
  readonly isExample: boolean;
}

/** A list's first item shows the shape of the rest. */
const MAX_ITEMS = 1;

/** The members of an object, or the first items of a list, with their paths. */
export function membersOf({ path, value }: PathHint, maxItems = MAX_ITEMS): readonly PathHint[] {
  if (value === undefined || value === null || isRawNumber(value)) return [];
  if (isJsonArray(value)) {
    return value.slice(0, maxItems).map((item, index) => ({ path: `${path}[${index}]`, value: item }));
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).map(([name, member]) => ({ path: path + templateStep(name), value: member }));
}

export type Preview =
  | { readonly kind: 'value'; readonly value: JsonValue }
  /** The template is invalid, with the error's position. */
  | { readonly kind: 'mistake'; readonly mistake: Said }
  /** It reads a value that is unknown before the workflow has run. */
  | { readonly kind: 'unknown' }
  /** Too large to show. */
  | { readonly kind: 'large' };

const MAX_SHOWN = 200;

/** A value in one short line. */
export function showValue(value: JsonValue): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : stringifyJson(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
