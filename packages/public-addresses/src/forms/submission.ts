import { isJsonArray, type JsonObject, type JsonValue } from '@millrace/engine';
import { type FieldFault, type FormOptions, pagesOf, readFields } from '@millrace/triggers';
import type { Entered } from '../pages/fields.ts';
import { BACK_INPUT, newToken, PAGE_INPUT, TOKEN_INPUT, TRAP_INPUT } from './form-page.ts';

const TOKEN = /^[A-Za-z0-9_-]{22}$/;

/** What somebody sends with a page of a form. */
export interface Submission {
  readonly entered: Entered;
  readonly token: string;
  /** The page to show if nothing is started. */
  readonly page: number;
  readonly meant: Meant;
}

type Meant =
  | { readonly kind: 'other_page' }
  | { readonly kind: 'faulty'; readonly faults: readonly FieldFault[] }
  | { readonly kind: 'by_program' }
  | { readonly kind: 'complete'; readonly values: JsonObject };

/** Reads what was entered on this page and on those before it. */
export function readSubmission({ fields: all }: FormOptions, given: JsonObject): Submission {
  const entered = enteredOf(given);
  const pages = pagesOf(all);
  const sent = Number(/^\d{1,3}$/.exec(oneOf(entered, PAGE_INPUT) ?? '')?.[0] ?? 0);
  const page = Math.min(sent, pages.length - 1);
  const token = TOKEN.exec(oneOf(entered, TOKEN_INPUT) ?? '')?.[0] ?? newToken();
  const common = { entered, token, page };
  if (oneOf(entered, BACK_INPUT) !== null)
    return { ...common, page: Math.max(0, page - 1), meant: { kind: 'other_page' } };
  const read = pages.slice(0, page + 1).map(({ fields }) => readFields(fields, given));
  const faulty = read.findIndex(({ faults }) => faults.length > 0);
  if (faulty !== -1)
    return { ...common, page: faulty, meant: { kind: 'faulty', faults: read[faulty]?.faults ?? [] } };
  if (page < pages.length - 1) return { ...common, page: page + 1, meant: { kind: 'other_page' } };
  if ((oneOf(entered, TRAP_INPUT) ?? '') !== '') return { ...common, meant: { kind: 'by_program' } };
  const values: JsonObject = Object.assign(Object.create(null), ...read.map((each) => each.values));
  return { ...common, meant: { kind: 'complete', values } };
}

/** The text of an input that the form sends once; null if it didn't. */
function oneOf(entered: Entered, name: string): string | null {
  return entered.get(name)?.[0] ?? null;
}

function enteredOf(given: JsonObject): Entered {
  const textsOf = (value: JsonValue): readonly string[] =>
    (isJsonArray(value) ? value : [value]).filter((each) => typeof each === 'string');
  return new Map(Object.entries(given).map(([name, value]) => [name, textsOf(value ?? null)]));
}
