import { isJsonArray, type JsonValue } from '@millrace/engine';
import { itemsOf, splitSegments } from '@millrace/importer-expressions/expressions';
import { message } from '@millrace/messages';
import { asText } from '../read.ts';
import { type Step, Unmappable } from '../step.ts';

/** A statement, and what it gets for its places in the order of their numbers. */
export interface Statement {
  readonly text: string;
  readonly parameters: readonly JsonValue[];
}

/** As much of what stands before an expression is looked at. */
const NEAR = 200;

/** Before a value that isn't quoted. */
const BEFORE_VALUE = /(?:[=<>,+*/|-]|\b(?:LIMIT|OFFSET|LIKE|ILIKE|BETWEEN|THEN|ELSE))\s*$/i;
/** What stands before a parenthesis in which a list, a condition or a query is: SQL, not a value. */
const BEFORE_SQL = /^(?:IN|FROM|AND|OR|NOT|WHERE|ON|HAVING|EXISTS|AS|INTO|BY|ANY|ALL|SELECT)$/i;
/** An expression that writes quotes or NULL writes SQL, not a value. */
const WRITES_SQL = /["'`]\s*(?:NULL|DEFAULT)\b|["`]'|'["`]|\\'/i;
/** Functions that take values of any type, so that PostgreSQL can't tell that of a parameter. */
const OF_ANY_TYPE = /\b(?:jsonb?_build_(?:object|array)|to_jsonb?|concat|concat_ws|format)\s*$/i;

/**
 * n8n writes what expressions give into the SQL. Here they are parameters, so that no value becomes SQL.
 * @param given the parameters that the node names itself
 * @throws Unmappable if an expression stands for a part of the statement that isn't a value
 */
export function statementOf(step: Step, query: string, given: readonly JsonValue[]): Statement {
  const segments = splitSegments(query.replace(/^=/, '').trim());
  if (segments === null) throw new Unmappable(message('import.expression_unreadable'));
  if (segments.every((segment) => 'text' in segment))
    return {
      text: segments.map((segment) => ('text' in segment ? segment.text : '')).join(''),
      parameters: given,
    };
  const isNumbered = numberedBy(step.node.kind) !== null;
  // Places without numbers are counted: those of the node would come between.
  if (!isNumbered && given.length > 0) throw withExpression();
  const writer = new Writer(step, given);
  for (const [index, segment] of segments.entries()) {
    if ('text' in segment) writer.text(segment.text);
    else {
      const next = segments[index + 1];
      writer.expression(segment.code, next !== undefined && 'text' in next ? next.text : '');
    }
  }
  step.approximate(message('import.sql_values'));
  return writer.finish();
}

function withExpression(): Unmappable {
  return new Unmappable(message('import.sql_with_expression'));
}

/** What stands before the number of a place; null where places are only counted. */
export function numberedBy(kind: string): string | null {
  if (kind === 'microsoftSql') return '@p';
  return kind === 'postgres' ? '$' : null;
}

/** Writes a statement, knowing whether it is in a text, a name or a comment. */
class Writer {
  readonly #step: Step;
  readonly #numberedBy: string | null;
  readonly #isPostgresql: boolean;
  readonly #parameters: JsonValue[];
  #made = '';
  /** What ends the part that the writer is in; empty outside of texts, names and comments. */
  #end = '';
  /** A text so far, and whether it contains an expression. */
  #quoted = '';
  #isFilled = false;

  constructor(step: Step, given: readonly JsonValue[]) {
    this.#step = step;
    this.#numberedBy = numberedBy(step.node.kind);
    this.#isPostgresql = step.node.kind === 'postgres';
    this.#parameters = [...given];
  }

  text(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      const sign = text[at] ?? '';
      const pair = text.slice(at, at + 2);
      if (this.#end === '') {
        if (sign === "'") this.#begin(sign);
        else if (sign === '"' || sign === '`') this.#open(sign, sign);
        else if (sign === '[' && this.#step.node.kind === 'microsoftSql') this.#open(']', sign);
        else if (pair === '--') this.#open('\n', sign);
        else if (pair === '/*') this.#open('*/', sign);
        else this.#made += sign;
      } else if (this.#end === "'") {
        if (pair === "''") {
          this.#quoted += pair;
          at += 1;
        } else if (sign === "'") this.#close();
        else this.#quoted += sign;
      } else {
        this.#made += sign;
        if (this.#made.endsWith(this.#end)) this.#end = '';
      }
    }
  }

  #begin(sign: string): void {
    this.#end = sign;
    this.#quoted = '';
    this.#isFilled = false;
  }

  #open(end: string, sign: string): void {
    this.#end = end;
    this.#made += sign;
  }

  #close(): void {
    this.#end = '';
    if (this.#isFilled) this.#place(this.#quoted.replaceAll("''", "'"), 'text');
    else this.#made += `'${this.#quoted}'`;
  }

  expression(code: string, next: string): void {
    if (this.#end === "'") {
      this.#isFilled = true;
      this.#quoted += asText(this.#step.expression(code));
      return;
    }
    // In a comment it says nothing.
    if (this.#end === '\n' || this.#end === '*/') return;
    const before = this.#made.slice(-NEAR);
    const isValue = BEFORE_VALUE.test(before) || isFirstValue(before);
    if (this.#end !== '' || !isValue || /^[\w"'`.(]/.test(next) || WRITES_SQL.test(code))
      throw withExpression();
    this.#place(this.#step.expression(code), 'numeric');
  }

  #place(value: JsonValue, type: string): void {
    this.#parameters.push(value);
    const place = this.#numberedBy === null ? '?' : `${this.#numberedBy}${this.#parameters.length}`;
    const needsType = this.#isPostgresql && OF_ANY_TYPE.test(aroundOf(this.#made.slice(-10 * NEAR)));
    this.#made += needsType ? `${place}::${type}` : place;
  }

  finish(): Statement {
    if (this.#end === "'") throw withExpression();
    return { text: this.#made, parameters: this.#parameters };
  }
}

/** Whether a value may begin in a parenthesis: of VALUES, or of a function. */
function isFirstValue(made: string): boolean {
  const [, before = '', word = ''] = /(^|[\s\S])(?:\b(\w+))?\s*\(\s*$/.exec(made) ?? [];
  return word === '' ? before === ',' : !BEFORE_SQL.test(word);
}

/** What stands before the innermost parenthesis that is open. */
function aroundOf(made: string): string {
  let depth = 0;
  for (let at = made.length - 1; at >= 0; at -= 1) {
    if (made[at] === ')') depth += 1;
    if (made[at] !== '(') continue;
    if (depth === 0) return made.slice(0, at);
    depth -= 1;
  }
  return '';
}

/**
 * The parameters that a node names: a list, or a text with commas between them, in which one expression may be all of them.
 * @param statement says how many there are
 */
export function namedParameters(
  step: Step,
  given: JsonValue | undefined,
  statement: string,
): readonly JsonValue[] {
  if (given === undefined) return [];
  if (typeof given !== 'string') return isJsonArray(given) ? given.map((part) => step.value(part)) : [];
  const segments = splitSegments(given.replace(/^=/, ''));
  if (segments === null) throw new Unmappable(message('import.expression_unreadable'));
  const [only] = segments;
  if (segments.length === 1 && only !== undefined && 'code' in only) {
    const items = itemsOf(only.code);
    if (items !== null) return items.map((code) => step.expression(code));
    const count = Math.max(
      1,
      ...[...statement.matchAll(/\$(\d{1,2})\b/g)].map(([, number]) => Number(number)),
    );
    if (count === 1) return [step.expression(only.code)];
    return Array.from({ length: count }, (_, index) => step.expression(`(${only.code})[${index}]`));
  }
  // Commas within expressions divide nothing.
  const codes: string[] = [];
  const marked = segments.map((each) =>
    'text' in each ? each.text : `${MARK}${codes.push(each.code) - 1}${MARK}`,
  );
  return marked
    .join('')
    .split(',')
    .map((part) => filled(step, part.trim(), codes));
}

/** Doesn't occur in texts that people write. */
const MARK = '\u241f';

function filled(step: Step, part: string, codes: readonly string[]): JsonValue {
  const whole = new RegExp(`^${MARK}(\\d+)${MARK}$`).exec(part);
  if (whole !== null) return step.expression(codes[Number(whole[1])] ?? '');
  return part
    .split(new RegExp(`${MARK}(\\d+)${MARK}`))
    .map((each, index) =>
      asText(index % 2 === 0 ? step.value(each) : step.expression(codes[Number(each)] ?? '')),
    )
    .join('');
}

/** Whether a statement changes nothing. */
export function onlyReads(statement: string, kind: string): boolean {
  // SQL Server checks the words itself, and takes several statements.
  const others = kind === 'microsoftSql' ? /\b(?:into|exec|execute|merge|update|delete|declare)\b/i : null;
  return (
    others?.test(statement) !== true &&
    /^\s*(?:--[^\n]*\n\s*)*(?:select|with)\b/i.test(statement) &&
    !/\b(?:insert\s+into|delete\s+from|update\s+[\w".]+\s+set)\b/i.test(statement)
  );
}
