import type { Message } from '@millrace/messages';
import type { JsonValue } from '@millrace/values/json';

/** What stands between `{{` and `}}`, parsed. */
export type Expression =
  | PathOperand
  | ItemOperand
  | { readonly kind: 'literal'; readonly value: JsonValue }
  | {
      readonly kind: 'filter';
      readonly input: Expression;
      readonly name: string;
      readonly args: readonly Argument[];
    }
  | { readonly kind: 'prefix'; readonly operator: PrefixOperator; readonly operand: Expression }
  | {
      readonly kind: 'infix';
      readonly operator: InfixOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'choice';
      readonly test: Expression;
      readonly yes: Expression;
      readonly no: Expression;
    };

/** A path's names from the root, as written: `['nodes', 'a', 'output', 'items', '0']`. */
export interface PathOperand {
  readonly kind: 'path';
  readonly names: readonly string[];
}

/** `it`, and what follows it: read from the item that a filter looks at. */
interface ItemOperand {
  readonly kind: 'it';
  readonly names: readonly string[];
}

/** An argument of a filter; one that mentions `it` is evaluated for each item, at the cost of `steps`. */
export type Argument =
  | Expression
  | { readonly kind: 'each'; readonly body: Expression; readonly steps: number };

export type PrefixOperator = '!' | '-';

/** Operators between two values, loosest first; those of one level are taken from the left. */
const LEVELS = [
  ['||', '??'],
  ['&&'],
  ['==', '!='],
  ['<', '<=', '>', '>='],
  ['~'],
  ['+', '-'],
  ['*', '/', '%'],
] as const;

export type InfixOperator = (typeof LEVELS)[number][number];

/** How tightly an operator binds; undefined for any other text. */
export const TIGHTNESS: ReadonlyMap<string, number> = new Map(
  LEVELS.flatMap((operators, level) => operators.map((operator) => [operator, level] as const)),
);

/** One template error and its position. `offset` counts UTF-16 units from the start of the string. */
export interface TemplateError {
  readonly code: 'template_syntax' | 'unknown_filter';
  readonly offset: number;
  readonly message: Message;
}
