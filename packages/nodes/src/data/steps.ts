import type { JsonValue } from '@millrace/engine';
import type { Step, StepOf } from './config.ts';
import { dateFormat, numberFormat } from './format.ts';
import { aggregate, group } from './group.ts';
import { join } from './join.ts';
import { chunk, flatten, limit, sort, split, unique } from './lists.ts';
import { DataProblem } from './problem.ts';
import { omit, pick, rename } from './shape.ts';

const OPERATIONS: {
  readonly [Name in Step['operation']]: (data: JsonValue, step: StepOf<Name>) => JsonValue;
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
 * Applies the steps in order. Nothing that is given is changed; what a step leaves alone is shared.
 * @throws DataProblem whose message names the step and what is wrong with the data
 */
export function applySteps(data: JsonValue, steps: readonly Step[]): JsonValue {
  return steps.reduce((current, step, index) => {
    const operation = OPERATIONS[step.operation] as (data: JsonValue, step: Step) => JsonValue;
    try {
      return operation(current, step);
    } catch (error) {
      if (!(error instanceof DataProblem)) throw error;
      throw new DataProblem(`Step ${index + 1} (${step.operation}) ${error.message}.`);
    }
  }, data);
}
