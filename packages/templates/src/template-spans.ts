import type { TemplateError } from './template-expression.ts';
import { FILTERS } from './template-filters.ts';
import { ExpressionParser } from './template-parser.ts';
import { countBackslashesBefore } from './template-scanner.ts';

/** An expression within a string, with its braces. */
interface TemplateSpan {
  readonly start: number;
  readonly end: number;
  /** Null if it can be parsed. */
  readonly error: TemplateError | null;
}

/** Where the expressions of a string are; one that can't be parsed ends at the next closing braces, or with the string. */
export function listTemplates(text: string): readonly TemplateSpan[] {
  const spans: TemplateSpan[] = [];
  let from = 0;
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', from)) {
    if (countBackslashesBefore(text, open, from) % 2 === 1) {
      from = open + 2;
      continue;
    }
    const parsed = new ExpressionParser(text, open, { filters: FILTERS }).parse();
    const error = 'error' in parsed ? parsed.error : null;
    const close = text.indexOf('}}', error?.offset ?? open);
    from = 'error' in parsed ? (close === -1 ? text.length : close + 2) : parsed.end;
    spans.push({ start: open, end: from, error });
  }
  return spans;
}
