import { runs } from '@millrace/testing/property-runs';
import { type JsonValue, stringifyJson } from '@millrace/values/json';
import { finishWork, type Work } from '@millrace/values/work';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTemplates } from '../src/template.ts';
import { RenderLimitError } from '../src/template-filter.ts';
import { render, renderWork } from '../src/template-render.ts';

const LIMIT = 16 * 1024 * 1024;

interface Rendered {
  readonly value: JsonValue | { readonly code: string };
  readonly steps: number;
}

const scopeOf = (triggerData: JsonValue) => ({
  triggerData,
  executionId: 1,
  vars: {},
  nodeOutput: () => null,
});

function outcomeOf(run: (count: (steps: number) => void) => JsonValue): Rendered {
  let steps = 0;
  try {
    return { value: run((count) => (steps += count)), steps };
  } catch (error) {
    if (error instanceof RenderLimitError) return { value: { code: error.code }, steps };
    throw error;
  }
}

const atOnce = (config: JsonValue, data: JsonValue, limit = LIMIT): Rendered =>
  outcomeOf((count) => render(parseTemplates(config).template, scopeOf(data), limit, count));

/** @param pauseAfter steps between two pauses */
const inPieces = (config: JsonValue, data: JsonValue, limit = LIMIT, pauseAfter?: number): Rendered =>
  outcomeOf((count) =>
    finishWork(renderWork(parseTemplates(config).template, scopeOf(data), limit, count, pauseAfter)),
  );

/** How often work pauses, and what it comes to. */
function pausesOf<Result>(work: Work<Result>): { readonly count: number; readonly result: Result } {
  for (let count = 0; ; count += 1) {
    const { done, value } = work.next();
    if (done === true) return { count, result: value };
  }
}

const rows = (count: number): JsonValue =>
  Array.from({ length: count }, (_, id) => ({
    id,
    key: `k${(id * 7919) % count}`,
    tags: ['a', `t${id % 7}`],
  }));

const filter = fc.constantFrom(
  ...['json', 'parse_json', 'string', 'sort', 'sort: it.key', 'map: it.id', 'map: (it | json)', 'unique'],
  ...[
    'map: (it.tags | map: (it ~ "!") | join)',
    'where: (it.key | json | length) > 3',
    'reverse',
    'split: ","',
  ],
  ...['join: ","', 'length', 'first', 'upcase', 'replace: "k", "ll"', 'concat: trigger.data', 'hash'],
);

const template = fc
  .tuple(fc.constantFrom('', 'x '), fc.array(filter, { maxLength: 5 }), fc.constantFrom('', ' y'))
  .map(
    ([before, filters, after]) =>
      `${before}{{trigger.data${filters.map((name) => ` | ${name}`).join('')}}}${after}`,
  );

describe('rendering in pieces', () => {
  it('T15: comes to the same result, or failure, in as many steps, wherever it pauses', () => {
    fc.assert(
      fc.property(
        fc.record({ a: template, b: fc.array(template, { maxLength: 3 }) }),
        fc.oneof(
          fc.nat({ max: 30 }).map(rows),
          fc.jsonValue({ maxDepth: 3 }).map((value) => value as JsonValue),
        ),
        fc.constantFrom(0, 1, 7, 50, 1_000),
        fc.constantFrom(200, 2_000, LIMIT),
        (config, data, pauseAfter, limit) => {
          expect(inPieces(config, data, limit, pauseAfter)).toEqual(atOnce(config, data, limit));
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it.each([
    ['{{trigger.data | json}}', 40],
    ['{{trigger.data | string}}', 40],
    ['rows: {{trigger.data}}', 40],
    ['{{trigger.data | json | parse_json}}', 80],
    ['{{trigger.data | map: (it | json)}}', 4],
    ['{{trigger.data | map: (it.key | split: "k" | length)}}', 2],
    ['{{trigger.data | sort: "key"}}', 100],
    ['{{trigger.data | sort: it.key, "desc"}}', 100],
    ['{{trigger.data | sort: (it.key | split: "k" | length)}}', 10],
    ['{{trigger.data | sort: (it.id > 5)}}', 100],
  ])('T15: pauses in %s of long lists', (config, atLeast) => {
    const data = rows(10_000);
    const paused = pausesOf(renderWork(parseTemplates(config).template, scopeOf(data), LIMIT));
    expect(paused.count).toBeGreaterThanOrEqual(atLeast);
    expect({ value: paused.result, steps: inPieces(config, data).steps }).toEqual(atOnce(config, data));
  });

  it('T15: pauses in a long text that is split', () => {
    const data = 'a,'.repeat(200_000);
    const paused = pausesOf(
      renderWork(parseTemplates('{{trigger.data | split}}').template, scopeOf(data), LIMIT),
    );
    expect(paused.count).toBeGreaterThanOrEqual(200);
    expect({ value: paused.result, steps: inPieces('{{trigger.data | split}}', data).steps }).toEqual(
      atOnce('{{trigger.data | split}}', data),
    );
  });

  it.each([
    ['{{trigger.data.text | contains: trigger.data.part}}', false],
    ['{{trigger.data.text ~ "b" | contains: trigger.data.part}}', true],
    ['{{trigger.data.text ~ "b" | replace: trigger.data.part, "c"}}', `${'a'.repeat(200_000)}c`],
    ['{{trigger.data.text | split: trigger.data.part}}', ['a'.repeat(300_000)]],
  ])('T15: pauses in %s where the part takes long to find', (config, found) => {
    const data = { text: 'a'.repeat(300_000), part: `${'a'.repeat(100_000)}b` };
    const paused = pausesOf(renderWork(parseTemplates(config).template, scopeOf(data), LIMIT));
    expect(paused.result).toEqual(found);
    // Two pieces of the part, five of the text.
    expect(paused.count).toBeGreaterThanOrEqual(6);
    expect(inPieces(config, data)).toEqual(atOnce(config, data));
  });

  it('T15: computes what it has computed before a pause only once', () => {
    const readsOf = (config: string): number => {
      let reads = 0;
      const first = {
        get id(): number {
          reads += 1;
          return 0;
        },
      };
      inPieces(config, [first, ...(rows(20_000) as readonly JsonValue[])]);
      return reads;
    };
    expect(readsOf('{{trigger.data | json | parse_json | json | length}}')).toBe(
      readsOf('{{trigger.data | json}}'),
    );
  });

  it('T15: what is too expensive or too large is refused as it is at once', () => {
    const data = rows(10_000);
    const expensive = `{{trigger.data ${'| json | parse_json '.repeat(10)}}}`;
    const sorts = `{{trigger.data ${'| sort: it.key '.repeat(10)}}}`;
    for (const config of [expensive, sorts]) {
      expect(inPieces(config, data)).toEqual(atOnce(config, data));
      expect(inPieces(config, data).value).toEqual({ code: 'template_too_expensive' });
    }
    expect(inPieces('{{trigger.data | json}}', data, 100_000)).toEqual({
      ...atOnce('{{trigger.data | json}}', data, 100_000),
      value: { code: 'template_too_large' },
    });
  });

  it('T15: text that is not JSON is null, however long it is', () => {
    const text = `${stringifyJson(rows(20_000))},`;
    expect(inPieces('{{trigger.data | parse_json}}', text)).toEqual(
      atOnce('{{trigger.data | parse_json}}', text),
    );
    expect(inPieces('{{trigger.data | parse_json}}', text).value).toBeNull();
  });
});
