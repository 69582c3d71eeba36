import { type JsonObject, type JsonValue, setOwn } from '@millrace/values/json';
import { utf8Bytes } from '@millrace/values/json-size';
import type { Work } from '@millrace/values/work';
import type { Template } from './template.ts';
import type { Argument, Expression } from './template-expression.ts';
import {
  isTruthy,
  LONG_STEPS,
  lengthSteps,
  MAX_TEMPLATE_STEPS,
  type OfItem,
  readPath,
  type Spend,
  TemplateSizeError,
  TemplateStepsError,
  textOf,
  textSteps,
  textWork,
} from './template-filter.ts';
import { FILTERS } from './template-filters.ts';
import { isLazy, negate, OPERATORS, SETTLED_BY_LEFT } from './template-operators.ts';
import { Outcomes, PauseError } from './template-outcomes.ts';

/** What expressions can read. Anything else is null. */
export interface TemplateScope {
  readonly triggerData: JsonValue;
  /** What a webhook's trigger keeps of the call besides its body; absent if it keeps nothing. */
  readonly request?: JsonValue | undefined;
  readonly executionId: number;
  readonly vars: JsonObject;
  /** The time zone that shows moments where a template doesn't name one; UTC when absent or null. */
  readonly timezone?: string | null;
  /** The output of a node that has ended, else null. */
  nodeOutput(nodeId: string): JsonObject | null;
  /** Only inside a loop. */
  readonly item?: JsonValue;
  readonly index?: number;
  /** Only in members deferred to `arguments`. */
  readonly args?: JsonObject;
  /** Epoch milliseconds of what `now` is: a moment that is recorded, so that it is the same whenever this is rendered again. */
  readonly nowMs?: number;
  /** The item that a filter looks at. */
  readonly it?: JsonValue;
}

/**
 * Replaces expressions by values: one pass, so the contents of a value are never evaluated. Constants are passed through, not copied.
 * @param onSteps told how many steps it took
 * @throws TemplateSizeError when the rendered strings exceed `maxBytes`
 * @throws TemplateStepsError when it would take more than {@link MAX_TEMPLATE_STEPS}
 */
export function render(
  template: Template,
  scope: TemplateScope,
  maxBytes: number,
  onSteps?: (steps: number) => void,
): JsonValue {
  if (template.kind === 'constant') return template.value;
  const budget = newBudget(maxBytes);
  try {
    return renderWithin(template, scope, budget);
  } finally {
    onSteps?.(budget.steps);
  }
}

/**
 * {@link render} in pieces: the same result, in as many steps. What takes long by itself is work, and after `pauseAfter` steps of other filters
 * there is a pause.
 * @throws TemplateSizeError, TemplateStepsError
 */
export function* renderWork(
  template: Template,
  scope: TemplateScope,
  maxBytes: number,
  onSteps?: (steps: number) => void,
  pauseAfter: number = LONG_STEPS,
): Work<JsonValue> {
  if (template.kind === 'constant') return template.value;
  const budget = newBudget(maxBytes);
  const outcomes = new Outcomes(budget, pauseAfter);
  budget.outcomes = outcomes;
  try {
    for (;;) {
      const rendered = renderUntilPause(template, scope, budget);
      if (!('pause' in rendered)) return rendered.value;
      if (rendered.pause.work === null) yield outcomes.fresh;
      else yield* rendered.pause.work;
      budget.steps = 0;
      budget.left = maxBytes;
      outcomes.rewind();
    }
  } finally {
    onSteps?.(budget.steps);
  }
}

function renderUntilPause(
  template: Template,
  scope: TemplateScope,
  budget: Budget,
): { readonly value: JsonValue } | { readonly pause: PauseError } {
  try {
    return { value: renderWithin(template, scope, budget) };
  } catch (error) {
    if (error instanceof PauseError) return { pause: error };
    throw error;
  }
}

/** One budget for a whole config, so that many strings together can't explode either. */
interface Budget {
  left: number;
  readonly maxBytes: number;
  /** Taken so far. */
  steps: number;
  readonly spend: Spend;
  /** Null where rendering isn't divided. */
  outcomes: Outcomes | null;
}

function newBudget(maxBytes: number): Budget {
  const budget: Budget = {
    ...{ left: maxBytes, maxBytes, steps: 0, outcomes: null },
    spend: (steps) => spendSteps(budget, steps),
  };
  return budget;
}

function spendSteps(budget: Budget, steps: number): void {
  budget.steps += steps;
  if (budget.steps > MAX_TEMPLATE_STEPS) throw new TemplateStepsError();
}

function spend(budget: Budget, text: string): void {
  budget.spend(textSteps(text));
  budget.left -= utf8Bytes(text);
  if (budget.left < 0) throw new TemplateSizeError(budget.maxBytes);
}

function renderWithin(template: Template, scope: TemplateScope, budget: Budget): JsonValue {
  switch (template.kind) {
    case 'constant':
      return template.value;
    case 'expression':
      return evaluate(template.expression, scope, budget);
    case 'text': {
      let text = '';
      for (const part of template.parts) {
        if (typeof part === 'string') spend(budget, part);
        text += typeof part === 'string' ? part : renderPart(template, part, scope, budget);
      }
      return text;
    }
    case 'list':
      return template.items.map((item) => renderWithin(item, scope, budget));
    case 'record': {
      const rendered: { [name: string]: JsonValue } = {};
      for (const [name, member] of template.members)
        setOwn(rendered, name, renderWithin(member, scope, budget));
      return rendered;
    }
  }
}

/** The text of an expression that is part of a longer one. */
function renderPart(text: Template, part: Expression, scope: TemplateScope, budget: Budget): string {
  const value = evaluate(part, scope, budget);
  const { maxBytes } = budget;
  const atOnce = () => textOf(value, maxBytes, budget.spend);
  const piece =
    typeof value === 'object' && budget.outcomes !== null
      ? (budget.outcomes.take(text, atOnce, () => textWork(value, maxBytes, budget.spend)) as string)
      : atOnce();
  spend(budget, piece);
  return piece;
}

function evaluate(expression: Expression, scope: TemplateScope, budget: Budget): JsonValue {
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'path':
      budget.spend(1);
      return readFrom(expression.names, scope);
    case 'it':
      return readPath(scope.it ?? null, expression.names, 1);
    case 'filter':
      return applyFilter(expression, scope, budget);
    case 'prefix': {
      budget.spend(1);
      const value = evaluate(expression.operand, scope, budget);
      return expression.operator === '!' ? !isTruthy(value) : negate(value, budget.spend);
    }
    case 'infix':
      return operate(expression, scope, budget);
    case 'choice': {
      budget.spend(1);
      const { test, yes, no } = expression;
      return evaluate(isTruthy(evaluate(test, scope, budget)) ? yes : no, scope, budget);
    }
  }
}

function operate(
  { operator, left, right }: Expression & { readonly kind: 'infix' },
  scope: TemplateScope,
  budget: Budget,
): JsonValue {
  budget.spend(1);
  const first = evaluate(left, scope, budget);
  if (isLazy(operator)) return SETTLED_BY_LEFT[operator](first) ? first : evaluate(right, scope, budget);
  const second = evaluate(right, scope, budget);
  const value = OPERATORS[operator](first, second, budget.left, budget.spend);
  if (typeof value === 'string') spend(budget, value);
  return value;
}

function applyFilter(
  expression: Expression & { readonly kind: 'filter' },
  scope: TemplateScope,
  budget: Budget,
): JsonValue {
  const { input, name, args } = expression;
  const before = evaluate(input, scope, budget);
  const filter = FILTERS.get(name);
  if (filter === undefined) return null;
  const [first] = args;
  const each = first?.kind === 'each' ? ofItem(first, scope, budget) : undefined;
  const values = args.map((arg) => evaluateArgument(arg, scope, budget));
  const atOnce = (): JsonValue => {
    budget.spend(lengthSteps(before));
    const value = filter.apply(before, values, budget.left, scope.timezone ?? 'UTC', budget.spend, each);
    if (typeof value === 'string') spend(budget, value);
    return value;
  };
  if (budget.outcomes === null) return atOnce();
  return budget.outcomes.take(expression, atOnce, () => {
    if (filter.work === undefined) return null;
    const { steps } = budget;
    budget.spend(lengthSteps(before));
    const work = filter.work(before, values, budget.left, budget.spend, each);
    if (work !== null) return filterWork(work, budget);
    budget.steps = steps;
    return null;
  });
}

function* filterWork(work: Work<JsonValue>, budget: Budget): Work<JsonValue> {
  const value = yield* work;
  // Joining a long text and measuring it are a turn each.
  yield 0;
  if (typeof value === 'string') spend(budget, value);
  return value;
}

function evaluateArgument(arg: Argument, scope: TemplateScope, budget: Budget): JsonValue {
  if (arg.kind === 'each') return null;
  // Reading a value takes no step of its own, unless it is done for each item.
  return arg.kind === 'path' ? readFrom(arg.names, scope) : evaluate(arg, scope, budget);
}

function ofItem(
  { body, steps }: Argument & { readonly kind: 'each' },
  scope: TemplateScope,
  budget: Budget,
): OfItem {
  return (it) => {
    budget.spend(steps);
    return evaluate(body, { ...scope, it }, budget);
  };
}

function readFrom(names: readonly string[], scope: TemplateScope): JsonValue {
  const [root = ''] = names;
  switch (root) {
    case 'trigger':
      if (names[1] === 'request') return readPath(scope.request ?? null, names, 2);
      return names[1] === 'data' ? readPath(scope.triggerData, names, 2) : null;
    case 'nodes': {
      const output = names[2] === 'output' ? scope.nodeOutput(names[1] ?? '') : null;
      return output === null ? null : readPath(output, names, 3);
    }
    case 'execution':
      return names[1] === 'id' && names.length === 2 ? scope.executionId : null;
    case 'vars':
      return names.length === 1 ? null : readPath(scope.vars, names, 1);
    case 'item':
      return readPath(scope.item ?? null, names, 1);
    case 'index':
      return names.length === 1 ? (scope.index ?? null) : null;
    case 'args':
      return readPath(scope.args ?? null, names, 1);
    case 'now':
      return names.length > 1 || scope.nowMs === undefined ? null : new Date(scope.nowMs).toISOString();
    default:
      return null;
  }
}
