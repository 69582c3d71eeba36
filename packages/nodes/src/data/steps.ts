import { isJsonArray, type JsonValue } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Step, StepOf } from './config.ts';
import { dateFormat, numberFormat, type StepContext } from './format.ts';
import { aggregate, group } from './group.ts';
import { join } from './join.ts';
import { chunk, flatten, limit, sort, split, unique } from './lists.ts';
import { DataProblem } from './problem.ts';
import { omit, pick, rename } from './shape.ts';

const OPERATIONS: {
  readonly [Name in Step['operation']]: (
    data: JsonValue,
    step: StepOf<Name>,
    surroundings: StepContext,
  ) => JsonValue;
} = {
  pick,
  omit,
  rename,
  sort,
  unique,
  group,
  aggregate,
  join,
  chunk,
  split,
  flatten,
  limit,
  format_date: dateFormat,
  format_number: numberFormat,
};

/** Lists of at least this length yield to the event loop between two steps. */
const LONG = 10_000;

/**
 * Applies the steps in order. The input is never modified; unchanged parts are shared.
 * @returns null when it was aborted
 * @throws DataProblem whose explanation names the step and the fault in the data
 */
export async function applySteps(
  data: JsonValue,
  steps: readonly Step[],
  { signal, ...surroundings }: StepContext & { readonly signal: AbortSignal },
): Promise<{ readonly data: JsonValue } | null> {
  let current = data;
  for (const [index, step] of steps.entries()) {
    if (index > 0 && isJsonArray(current) && current.length >= LONG) {
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) return null;
    }
    current = applyStep(current, step, index, surroundings);
  }
  return { data: current };
}

function applyStep(data: JsonValue, step: Step, index: number, surroundings: StepContext): JsonValue {
  const operation = OPERATIONS[step.operation] as (
    data: JsonValue,
    step: Step,
    surroundings: StepContext,
  ) => JsonValue;
  try {
    return operation(data, step, surroundings);
  } catch (error) {
    if (!(error instanceof DataProblem)) throw error;
    const { explanation: problem } = error;
    const { operation: name } = step;
    throw new DataProblem(message('nodes.step_failed', { step: index + 1, operation: name, problem }));
  }
}
