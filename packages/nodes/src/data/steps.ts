import { isWork, type JsonValue, type Work } from '@millrace/engine';
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
  ) => JsonValue | Work<JsonValue>;
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

/**
 * Applies the steps in order. The input is never modified; unchanged parts are shared.
 * @throws DataProblem whose explanation names the step and the fault in the data
 */
export function* applySteps(
  data: JsonValue,
  steps: readonly Step[],
  surroundings: StepContext,
): Work<JsonValue> {
  let current = data;
  for (const [index, step] of steps.entries()) current = yield* applyStep(current, step, index, surroundings);
  return current;
}

function* applyStep(data: JsonValue, step: Step, index: number, surroundings: StepContext): Work<JsonValue> {
  const operation = OPERATIONS[step.operation] as (
    data: JsonValue,
    step: Step,
    surroundings: StepContext,
  ) => JsonValue | Work<JsonValue>;
  try {
    const result = operation(data, step, surroundings);
    return isWork(result) ? yield* result : result;
  } catch (error) {
    if (!(error instanceof DataProblem)) throw error;
    const { explanation: problem } = error;
    const { operation: name } = step;
    throw new DataProblem(message('nodes.step_failed', { step: index + 1, operation: name, problem }));
  }
}
