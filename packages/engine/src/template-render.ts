import { type JsonObject, type JsonValue, setOwn } from './json.ts';
import { utf8Bytes } from './json-size.ts';
import type { Template } from './template.ts';
import type { Expression, Operand } from './template-expression.ts';
import {
  lengthSteps,
  MAX_TEMPLATE_STEPS,
  readPath,
  type Spend,
  TemplateSizeError,
  TemplateStepsError,
  textOf,
  textSteps,
} from './template-filter.ts';
import { FILTERS } from './template-filters.ts';

/** What expressions can read. Anything else is null. */
export interface TemplateScope {
  readonly triggerData: JsonValue;
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
  budget.spend(1);
  let value = readOperand(expression.operand, scope);
  for (const call of expression.filters) {
    const filter = FILTERS.get(call.name);
    if (filter === undefined) return null;
    const args = call.args.map((arg) => readOperand(arg, scope));
    budget.spend(lengthSteps(value));
    value = filter.apply(value, args, budget.left, scope.timezone ?? 'UTC', budget.spend);
    if (typeof value === 'string') spend(budget, value);
  }
  return value;
}

function readOperand(operand: Operand, scope: TemplateScope): JsonValue {
  return operand.kind === 'literal' ? operand.value : readFrom(operand.names, scope);
}

function readFrom(names: readonly string[], scope: TemplateScope): JsonValue {
  const [root = ''] = names;
  switch (root) {
    case 'trigger':
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
    default:
      return null;
  }
}
