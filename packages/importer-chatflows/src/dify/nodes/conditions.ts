import { isJsonArray, type JsonObject, type JsonValue, own } from '@millrace/engine';
import { template } from '@millrace/importer-kit/refs';
import { Unmappable } from '@millrace/importer-kit/unmappable';
import { arrayOf, asText, objectOf, textOf } from '@millrace/importer-kit/values';
import { message } from '@millrace/messages';
import type { DirectStep } from '../../direct/maker.ts';
import { namesIn, selected, textValue } from '../values.ts';

const OPERATORS: { readonly [operator: string]: string } = {
  contains: 'contains',
  'not contains': 'not_contains',
  'start with': 'starts_with',
  'end with': 'ends_with',
  is: 'equals',
  'is not': 'not_equals',
  '=': 'equals',
  '≠': 'not_equals',
  '>': 'greater_than',
  '<': 'less_than',
  '≥': 'greater_or_equal',
  '≤': 'less_or_equal',
  in: 'in',
  'not in': 'not_in',
  before: 'before',
  after: 'after',
};

const ALONE: { readonly [operator: string]: string } = {
  empty: 'is_empty',
  'not empty': 'is_not_empty',
  null: 'not_exists',
  'not null': 'exists',
  exists: 'exists',
  'not exists': 'not_exists',
};

/** The conditions of one case of a branch, or of the end of a loop. */
export function caseConditions(
  step: DirectStep,
  given: JsonObject,
): {
  readonly conditions: readonly JsonValue[];
  readonly combine: 'all' | 'any';
} {
  const conditions = arrayOf(given.conditions).map((each) => condition(step, objectOf(each)));
  if (conditions.length === 0) throw new Unmappable(message('import.no_conditions'));
  return { conditions, combine: given.logical_operator === 'or' ? 'any' : 'all' };
}

function condition(step: DirectStep, given: JsonObject): JsonValue {
  const operator = textOf(given.comparison_operator) ?? '';
  const left = template(selected(step, given.variable_selector));
  if (given.sub_variable_condition !== undefined && given.sub_variable_condition !== null)
    throw new Unmappable(message('import.unknown_operator', { operator }));
  if (Object.hasOwn(ALONE, operator)) return { left, operator: ALONE[operator] ?? '' };
  const known = own(OPERATORS, operator);
  if (known === undefined) throw new Unmappable(message('import.unknown_operator', { operator }));
  return { left, operator: known, right: rightOf(step, given) };
}

function rightOf(step: DirectStep, { value = '', varType: type, numberVarType }: JsonObject): JsonValue {
  if (isJsonArray(value)) {
    const names = numberVarType === 'variable' ? namesIn(value) : null;
    return names === null ? value.map((each) => textValue(step, each)) : template(selected(step, value));
  }
  if (typeof value !== 'string') return value;
  const text = textValue(step, asText(value));
  const number = Number(text);
  if (type === 'number' && text.trim() !== '' && Number.isFinite(number)) return number;
  return type === 'boolean' && /^(?:true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text;
}
