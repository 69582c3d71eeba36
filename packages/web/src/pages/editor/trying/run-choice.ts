import type { Answer } from '@millrace/admin-api';
import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';

import { readJson } from '@millrace/ui/components/read-json.ts';

/** What a run begins with: the value, or the execution whose input is taken. */
export type RunInput =
  | { readonly kind: 'value'; readonly value: JsonValue }
  | { readonly kind: 'of'; readonly executionId: number }
  | { readonly kind: 'invalid' };

export type RunSource = 'form' | 'json' | 'sample' | 'past';

/** What there is to choose from. */
export interface KnownInputs extends Answer<'GET /orgs/:org/workflows/:id/inputs'> {
  /** The workflow's input schema, when a form can be made from it. */
  readonly schema: JsonObject | null;
}

/** What somebody chose so far; nulls: nothing, so the last input is taken. */
export interface RunChoice {
  readonly source: RunSource | null;
  /** As it was written in the form, as JSON, or chosen among past executions. */
  readonly input: RunInput | null;
  readonly text: string | null;
}

export const NO_CHOICE: RunChoice = { source: null, input: null, text: null };
const EMPTY: RunInput = { kind: 'value', value: {} };

/** Where the input comes from: what was chosen as long as it is there, else the form, the sample, the last execution. */
export function sourceOf({ source }: RunChoice, { schema, sample, executions }: KnownInputs): RunSource {
  const isThere =
    (source !== 'form' || schema !== null) &&
    (source !== 'sample' || sample !== null) &&
    (source !== 'past' || executions.length > 0);
  if (source !== null && isThere) return source;
  if (schema !== null) return 'form';
  if (sample !== null) return 'sample';
  return executions.length > 0 ? 'past' : 'json';
}

/** What a run begins with now: what is shown, from the first moment on. */
export function inputOf(choice: RunChoice, known: KnownInputs): RunInput {
  const { input } = choice;
  const { sample, executions } = known;
  const [last] = executions;
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
      const former = [sample?.data, last?.input].find((each) => each !== undefined && isJsonObject(each));
      return former === undefined ? EMPTY : { kind: 'value', value: former };
    }
  }
}

/** Another source; what the one before had is where one goes on from. */
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

/** The value of an input, when it is known here. */
export function knownValueOf(input: RunInput, { executions }: KnownInputs): JsonValue | undefined {
  if (input.kind === 'value') return input.value;
  if (input.kind === 'invalid') return undefined;
  return executions.find((each) => each.execution_id === input.executionId)?.input;
}

/** Reads JSON as it was typed; nothing at all stands for an empty object. */
export function readInput(text: string): RunInput {
  const value = text.trim() === '' ? {} : readJson(text);
  return value === undefined ? { kind: 'invalid' } : { kind: 'value', value };
}
