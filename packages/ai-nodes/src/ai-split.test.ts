import { finishWork, isJsonArray, type JsonObject, Meter } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { runNode } from '@millrace/node-kit/testing';
import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aiSplit } from './ai-split.ts';
import { type SplitOptions, splitText } from './split/split-text.ts';

function split(text: string, options: Partial<SplitOptions> = {}) {
  const all = { size: 20, overlap: 0, unit: 'characters', isMarkdown: false, ...options } as const;
  return finishWork(splitText(text, all, new Meter()));
}

const textsOf = (text: string, options: Partial<SplitOptions> = {}) =>
  split(text, options).map((part) => part.text);

describe('ai.split: boundaries', () => {
  it.each([
    ['paragraphs', 'One two three.\n\nFour five.\n \n\nSix.', ['One two three.', 'Four five.\n \n\nSix.']],
    ['lines', 'One two three\nfour five six\nseven', ['One two three', 'four five six\nseven']],
    ['sentences', 'One two. Three four! Five six?', ['One two.', 'Three four!', 'Five six?']],
    ['words', 'one two three four five six', ['one two three four', 'five six']],
    ['characters', 'x'.repeat(45), ['x'.repeat(20), 'x'.repeat(20), 'xxxxx']],
    [
      'Japanese sentences',
      '一月は寒いです。二月はもっと寒いです。三月です。',
      ['一月は寒いです。二月はもっと寒いです。', '三月です。'],
    ],
  ])('between %s', (_what, text, expected) => {
    expect(textsOf(text)).toEqual(expected);
  });

  it('never within a character', () => {
    expect(textsOf('😀'.repeat(25), { size: 21 })).toEqual([
      '😀'.repeat(10),
      '😀'.repeat(10),
      '😀'.repeat(5),
    ]);
    expect(textsOf('😀'.repeat(30), { size: 21, overlap: 5 }).every((part) => part.isWellFormed())).toBe(
      true,
    );
  });

  it('makes no parts of nothing', () => {
    expect(textsOf('')).toEqual([]);
    expect(textsOf(' \n\n '.repeat(40))).toEqual([]);
  });
});

describe('ai.split: overlap', () => {
  it('repeats whole words of the end', () => {
    expect(textsOf('one two three four five six seven', { overlap: 10 })).toEqual([
      'one two three four',
      'four five six seven',
    ]);
  });

  it('is left out where it would not fit', () => {
    const words = ['a', 'b', 'c'].map((letter) => letter.repeat(19));
    expect(textsOf(words.join(' '), { overlap: 10 })).toEqual(words);
  });
});

describe('ai.split: tokens', () => {
  it('are estimated by script', () => {
    expect(textsOf('abcd '.repeat(40), { unit: 'tokens' }).map(({ length }) => length)).toEqual([79, 79, 39]);
    expect(textsOf('漢'.repeat(45), { unit: 'tokens' }).map(({ length }) => length)).toEqual([20, 20, 5]);
  });
});

describe('ai.split: Markdown', () => {
  it('is divided at headings, and each part knows those above it', () => {
    const text = 'Intro\n# A #\na\n### B\nb\n## C\nc\n# D\nd';
    expect(split(text, { size: 500, isMarkdown: true })).toEqual([
      { text: 'Intro', headings: [] },
      { text: '# A #\na', headings: ['A'] },
      { text: '### B\nb', headings: ['A', 'B'] },
      { text: '## C\nc', headings: ['A', 'C'] },
      { text: '# D\nd', headings: ['D'] },
    ]);
  });

  it('has no headings in code', () => {
    const text = '# A\n```sh\n# not a heading\n~~~\n```\n# B';
    expect(split(text, { size: 500, isMarkdown: true }).map(({ headings }) => headings)).toEqual([
      ['A'],
      ['B'],
    ]);
  });
});

it('ai.split: every part fits, and together they have everything but blanks', () => {
  const character = fc.constantFrom('a', 'bc', ' ', '\n', '\n\n', '. ', '。', '😀', '漢', '# ', '```\n');
  fc.assert(
    fc.property(
      fc.array(character, { maxLength: 200 }).map((parts) => parts.join('')),
      fc.integer({ min: 20, max: 60 }),
      fc.integer({ min: 0, max: 10 }),
      fc.constantFrom('characters' as const, 'tokens' as const),
      fc.boolean(),
      (text, size, overlap, unit, isMarkdown) => {
        const parts = textsOf(text, { size, overlap, unit, isMarkdown });
        const bare = (value: string) => value.replaceAll(/\s/g, '');
        for (const part of parts) {
          expect(part.isWellFormed()).toBe(true);
          if (unit === 'characters') expect(part.length).toBeLessThanOrEqual(size);
        }
        const whole = textsOf(text, { size, overlap: 0, unit, isMarkdown });
        expect(bare(whole.join(''))).toBe(bare(text));
        // With overlap nothing is lost, either: each part begins no later than the one before ends.
        let at = 0;
        for (const part of parts.map(bare)) {
          const found = bare(text).indexOf(part, Math.max(0, at - part.length));
          expect(found).toBeGreaterThanOrEqual(0);
          expect(found).toBeLessThanOrEqual(at);
          at = Math.max(at, found + part.length);
        }
      },
    ),
    { numRuns: runs(300) },
  );
});

describe('ai.split', () => {
  const run = async (config: JsonObject) => (await runNode(aiSplit, { config })).result;

  it('turns HTML into Markdown first', async () => {
    const text = '<h1>Care</h1><p>Grease it.</p><script>alert(1)</script><h2>Belt</h2><p>Lasts.</p>';
    expect(await run({ text, format: 'html' })).toMatchObject({
      output: {
        chunks: [
          { text: '# Care\n\nGrease it.', metadata: { headings: ['Care'] } },
          { text: '## Belt\n\nLasts.', metadata: { headings: ['Care', 'Belt'] } },
        ],
      },
    });
  });

  it.each([
    [{ text: 'x', size: 100, overlap: 51 }, /overlap/],
    [{ text: 'x'.repeat(2_000_001) }, /2000000 characters/],
    [{ text: 'x', size: 10 }, /size/],
  ])('refuses %.60j', async (config, message) => {
    expect(await run(config)).toMatchObject({ code: 'invalid_config', message: saying(message) });
  });

  it('makes at most 10,000 parts', async () => {
    expect(await run({ text: 'x'.repeat(200_020), size: 20, overlap: 0 })).toMatchObject({
      code: 'invalid_data',
      message: saying('10001'),
    });
  });

  it('takes a text of the greatest length in pieces', async () => {
    const result = await run({ text: `${'word '.repeat(399_999)}`, size: 1_000, unit: 'tokens' });
    const chunks = result.kind === 'success' ? (result.output.chunks ?? null) : null;
    expect(isJsonArray(chunks) && chunks.length).toBeGreaterThan(400);
  });
});
