import type { ResponseBody } from '@millrace/admin-api';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '@millrace/engine';

/** A run's input: a value, or the execution to take it from. */
export type RunInput =
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'of'; readonly executionId: number }
  | { readonly kind: 'invalid' };

export type RunSource = 'form' | 'json' | 'sample' | 'past';

/** The available inputs. */
export interface KnownInputs extends ResponseBody<'GET /orgs/:org/workflows/:id/inputs'> {
  /** The workflow's input schema, if a form can be generated from it. */
  readonly schema: JsonObject | null;
}

/** The user's choice so far; null: none, so the last input is used. */
export interface RunChoice {
  readonly source: RunSource | null;
  /** From the form, as JSON, or from a past execution. */
  readonly input: RunInput | null;
  readonly text: string | null;
}

export const NO_CHOICE: RunChoice = { source: null, input: null, text: null };

/** The input of one execution. */
export function pastChoice(executionId: number): RunChoice {
  return { source: 'past', input: { kind: 'of', executionId }, text: null };
}

const EMPTY: RunInput = { kind: 'value', value: {} };

/** The input's source: the chosen one while available, else the form, or what was last: a sample, or a run by hand; else the last execution. */
export function sourceOf({ source }: RunChoice, { schema, sample, executions }: KnownInputs): RunSource {
  const isThere =
    (source !== 'form' || schema !== null) &&
    (source !== 'sample' || sample !== null) &&
    (source !== 'past' || executions.length > 0);
  if (source !== null && isThere) return source;
  if (schema !== null) return 'form';
  if (sample !== null && lastRunAfter(sample, executions) === undefined) return 'sample';
  return executions.length > 0 ? 'past' : 'json';
}

/** The last run by hand, if it is later than the sample and had another input. */
function lastRunAfter(
  sample: NonNullable<KnownInputs['sample']>,
  executions: KnownInputs['executions'],
): KnownInputs['executions'][number] | undefined {
  const last = executions.find(({ trigger_type: trigger }) => trigger === 'manual');
  if (last === undefined || Date.parse(last.created_at) <= Date.parse(sample.received_at)) return undefined;
  return JSON.stringify(last.input) === JSON.stringify(sample.data) ? undefined : last;
}

/** The input of a run started now: what is shown, even before the first edit. */
export function inputOf(choice: RunChoice, known: KnownInputs): RunInput {
  const { input } = choice;
  const { sample, executions } = known;
  const later = sample === null ? undefined : lastRunAfter(sample, executions);
  const last = later ?? executions[0];
  switch (sourceOf(choice, known)) {
    case 'sample':
      return sample === null ? EMPTY : { kind: 'value', value: sample.data };
    case 'past':
      if (input?.kind === 'of' || last === undefined) return input ?? EMPTY;
      return { kind: 'of', executionId: last.execution_id };
    case 'json':
      return input === null || input.kind === 'of' ? EMPTY : input;
    case 'form': {
      if (input?.kind === 'value') return isJsonObject(input.value) ? input : EMPTY;
      const former = [later?.input, sample?.data, last?.input].find(
        (each) => each !== undefined && isJsonObject(each),
      );
      return former === undefined ? EMPTY : { kind: 'value', value: former };
    }
  }
}

/** Switches the source, starting from the previous source's value. */
export function chooseSource(choice: RunChoice, known: KnownInputs, source: RunSource): RunChoice {
  const present = knownValueOf(inputOf(choice, known), known);
  switch (source) {
    case 'json': {
      const text = present === undefined ? (choice.text ?? '{}') : JSON.stringify(present, null, 2);
      return { source, text, input: readInput(text) };
    }
    case 'form':
      return {
        ...choice,
        source,
        input: present !== undefined && isJsonObject(present) ? { kind: 'value', value: present } : EMPTY,
      };
    case 'sample':
    case 'past':
      return { ...choice, source };
  }
}

/** The value of an input, if known here. */
export function knownValueOf(input: RunInput, { executions }: KnownInputs): JsonValue | undefined {
  if (input.kind === 'value') return input.value;
  if (input.kind === 'invalid') return undefined;
  return executions.find((each) => each.execution_id === input.executionId)?.input;
}

/** Parses JSON as typed; empty text is an empty object. */
export function readInput(text: string): RunInput {
  const value = text.trim() === '' ? {} : tryParseJson(text);
  return value === undefined ? { kind: 'invalid' } : { kind: 'value', value };
}
