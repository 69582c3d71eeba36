import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inEnglish } from '@millrace/messages/english';
import { type JsonValue, parseJson, stringifyJson } from '@millrace/values/json';
import { describe, expect, it } from 'vitest';
import { parseTemplate } from '../src/template.ts';
import { FILTERS } from '../src/template-filters.ts';
import { render } from '../src/template-render.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../docs/templates.md'), 'utf8');

interface Example {
  readonly data: JsonValue;
  readonly template: string;
  readonly expected: JsonValue;
}

/** Sections of filters that aren't about one filter. */
const GENERAL = new Set(['Items of lists', 'Dates']);

/** Blocks that start with `trigger.data = ...`; each further line is a template, an arrow and its result. */
function examplesIn(text: string): Example[] {
  return [...text.matchAll(/^```\ntrigger\.data = (.*)\n([^`]*)^```$/gm)].flatMap(
    ([, data = '', lines = '']) =>
      lines
        .trimEnd()
        .split('\n')
        .map((line) => {
          const [template, expected, ...rest] = line.split(' → ');
          if (template === undefined || expected === undefined || rest.length > 0) {
            throw new Error(`not an example: ${line}`);
          }
          return { data: parseJson(data), template, expected: parseJson(expected) };
        }),
  );
}

const examples = examplesIn(guide);

describe('docs/templates.md', () => {
  it.each(examples)('T8: $template', ({ data, template, expected }) => {
    const parsed = parseTemplate(template);
    if (!parsed.ok) throw new Error(inEnglish(parsed.error.message));
    const nowMs = Date.parse('2026-03-01T10:00:00Z');
    const scope = { triggerData: data, executionId: 1, vars: {}, nowMs, nodeOutput: () => null };
    expect(stringifyJson(render(parsed.template, scope, 1_000_000))).toBe(stringifyJson(expected));
  });

  it('T8: every filter has a section with examples, and no other section exists', () => {
    const nameOf = (chapter: string) => chapter.slice(0, chapter.indexOf('\n'));
    const chapters = guide
      .slice(guide.indexOf('## Filters'))
      .split(/^### /m)
      .slice(1)
      .filter((chapter) => !GENERAL.has(nameOf(chapter)));
    expect(chapters.map(nameOf)).toEqual([...FILTERS.keys()]);
    for (const chapter of chapters) {
      const name = nameOf(chapter);
      const own = examplesIn(chapter).filter(({ template }) => new RegExp(`\\| ${name}\\b`).test(template));
      expect(own.length, name).toBeGreaterThan(0);
    }
  });

  it('T8: every block of templates is run', () => {
    expect(guide.match(/^```$/gm)).toHaveLength(2 * (guide.match(/^trigger\.data = /gm)?.length ?? 0));
    expect(examples.length).toBe(guide.match(/ → /g)?.length);
  });
});
