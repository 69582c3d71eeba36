import { type Message, message } from '@millrace/messages';
import type { TemplateError } from './template-expression.ts';

/** `k` backslashes before `{{` represent `k / 2` of them, and an odd one makes the braces literal. */
export function countBackslashesBefore(text: string, at: number, from: number): number {
  let count = 0;
  while (at - count - 1 >= from && text.charCodeAt(at - count - 1) === 0x5c) count += 1;
  return count;
}

/** Thrown only while parsing; it never leaves the parser. */
export class SyntaxProblem extends Error {
  readonly problem: TemplateError;
  constructor(problem: TemplateError) {
    super(problem.code);
    this.problem = problem;
  }
}

/** Everything but white space and the characters with a meaning in an expression. */
export const NAME = /[^\s.[\]{}|"'`:,()\\]+/y;
const WHITE_SPACE = /\s+/y;
/** What people write for an operator, or for what they take to be one. */
const OPERATOR = /[!=]==?|\|\||\?\?|&&|[<>]=?|[~+\-*/%?|&=]|(?:and|or)\b/y;

/** What other languages have, and what it is here. */
const CORRECTIONS: ReadonlyMap<string, string> = new Map([
  ['===', '=='],
  ['!==', '!='],
  ['=', '=='],
  ['&', '&&'],
  ['and', '&&'],
  ['or', '||'],
]);

/** Reads a text from left to right. */
export class Scanner {
  readonly text: string;
  at: number;

  constructor(text: string, at: number) {
    this.text = text;
    this.at = at;
  }

  match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) return null;
    this.at += found[0].length;
    return found[0];
  }

  /** Whether a token is next; then it and the white space after it have been read. */
  take(token: string): boolean {
    if (!this.isAt(token)) return false;
    this.at += token.length;
    if (token !== '}}') this.skipSpace();
    return true;
  }

  /** The operator that is next, without reading it; null if there is none. */
  peekOperator(): string | null {
    OPERATOR.lastIndex = this.at;
    return OPERATOR.exec(this.text)?.[0] ?? null;
  }

  isAt(token: string): boolean {
    return this.text.startsWith(token, this.at);
  }

  isAtQuote(): boolean {
    return this.isAt('"') || this.isAt("'");
  }

  skipSpace(): void {
    this.match(WHITE_SPACE);
  }

  /** A string in single or double quotes; a backslash escapes a quote, a backslash, n or t. */
  string(): string {
    const start = this.at;
    const quote = this.text[start];
    let value = '';
    for (let at = start + 1; at < this.text.length; at++) {
      const char = this.text[at] as string;
      if (char === quote) {
        this.at = at + 1;
        this.skipSpace();
        return value;
      }
      if (char === '\\') {
        at += 1;
        const escaped = this.text[at];
        if (escaped === 'n') value += '\n';
        else if (escaped === 't') value += '\t';
        else if (escaped === '\\' || escaped === '"' || escaped === "'") value += escaped;
        else this.failAt(at - 1, message('flow.unknown_escape'));
      } else {
        value += char;
      }
    }
    return this.failAt(start, message('flow.string_not_closed'));
  }

  /** Why what is next can't stand here. */
  describeRest(): Message {
    if (this.at >= this.text.length) {
      return message('flow.expression_not_closed', { close: '}}', escaped: '\\{{' });
    }
    const operator = this.peekOperator() ?? '';
    const right = CORRECTIONS.get(operator);
    if (right !== undefined) return message('flow.operator_elsewhere', { wrong: operator, right });
    const found = String.fromCodePoint(this.text.codePointAt(this.at) ?? 0);
    const example = '{{trigger.data.name | upper}}';
    return message('flow.unexpected_character', { character: found, example });
  }

  fail(mistake: Message): never {
    return this.failAt(this.at, mistake);
  }

  failAt(offset: number, mistake: Message): never {
    throw new SyntaxProblem({
      code: 'template_syntax',
      offset,
      message: message('flow.at_character', { mistake, position: offset + 1 }),
    });
  }
}
