import { type JsonObject, type JsonValue, setOwn } from '@millrace/values/json';
import { utf8Bytes } from '@millrace/values/json-size';
import type { Template } from './template.ts';
import type { Argument, Expression } from './template-expression.ts';
import {
  isTruthy,
  lengthSteps,
  MAX_TEMPLATE_STEPS,
  type OfItem,
  readPath,
  type Spend,
  TemplateSizeError,
  TemplateStepsError,
  textOf,
  textSteps,
} from './template-filter.ts';
import { FILTERS } from './template-filters.ts';
import { isLazy, negate, OPERATORS, SETTLED_BY_LEFT } from './template-operators.ts';

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
  const budget: Budget = { left: maxBytes, maxBytes, steps: 0, spend: (steps) => spendSteps(budget, steps) };
  try {
    return renderWithin(template, scope, budget);
  } finally {
    onSteps?.(budget.steps);
  }
}

/** One budget for a whole config, so that many strings together can't explode either. */
interface Budget {
  left: number;
  readonly maxBytes: number;
  /** Taken so far. */
  steps: number;
  readonly spend: Spend;
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
        const piece =
          typeof part === 'string'
            ? part
            : textOf(evaluate(part, scope, budget), budget.maxBytes, budget.spend);
        spend(budget, piece);
        text += piece;
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
  { input, name, args }: Expression & { readonly kind: 'filter' },
  scope: TemplateScope,
  budget: Budget,
): JsonValue {
  const before = evaluate(input, scope, budget);
  const filter = FILTERS.get(name);
  if (filter === undefined) return null;
  const [first] = args;
  const each = first?.kind === 'each' ? ofItem(first, scope, budget) : undefined;
  const values = args.map((arg) => evaluateArgument(arg, scope, budget));
  budget.spend(lengthSteps(before));
  const value = filter.apply(before, values, budget.left, scope.timezone ?? 'UTC', budget.spend, each);
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
