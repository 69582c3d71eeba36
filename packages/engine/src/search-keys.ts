import type { Template } from '@millrace/templates/template';
import { render } from '@millrace/templates/template-render';
import { type JsonObject, type JsonValue, textOrJson } from '@millrace/values/json';

/** A member of `settings.search_keys`. */
export interface SearchKey {
  readonly name: string;
  readonly template: Template;
}

/** How many keys a workflow may declare, and how long a name may be. */
export const MAX_SEARCH_KEYS = 10;
export const MAX_SEARCH_KEY_NAME_LENGTH = 40;
/** Characters stored of a value: it has to fit into an index. */
const MAX_VALUE_LENGTH = 200;
const MAX_RENDERED_BYTES = 100_000;

/**
 * The values by which an execution is found, rendered at its start. A value that is missing, blank or can't be rendered is left out; a long
 * one is cut.
 * @returns null for none
 */
export function searchKeysOf(
  { searchKeys, vars, timezone }: SearchedPlan,
  of: {
    readonly executionId: number;
    readonly triggerData: JsonValue;
    readonly request?: JsonValue | undefined;
    readonly nowMs?: number;
  },
): { readonly [name: string]: string } | null {
  const scope = { ...of, vars, timezone, nodeOutput: () => null };
  const values = searchKeys.map(({ name, template }) => [name, renderedValue(template, scope)] as const);
  const given = values.filter(([, value]) => value !== '');
  return given.length === 0 ? null : Object.fromEntries(given);
}

/** What {@link searchKeysOf} needs of a plan. */
interface SearchedPlan {
  readonly searchKeys: readonly SearchKey[];
  readonly vars: JsonObject;
  readonly timezone: string | null;
}

function renderedValue(template: Template, scope: Parameters<typeof render>[1]): string {
  try {
    const value = render(template, scope, MAX_RENDERED_BYTES);
    if (value === null) return '';
    return searchValueOf(textOrJson(value));
  } catch {
    return '';
  }
}

/** A value as it is stored; search terms are cut in the same way. */
export function searchValueOf(text: string): string {
  return Array.from(storable(text).trim()).slice(0, MAX_VALUE_LENGTH).join('');
}

/** Webhook data may contain characters that a text column can't store. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}
