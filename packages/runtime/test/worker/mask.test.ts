import {
  failure,
  finishWork,
  type JsonObject,
  type JsonValue,
  type NodeResult,
  parseJson,
  stringifyJson,
  success,
} from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskSecrets as masking } from '../../src/mask.ts';
import { STRIDE } from '../../src/mask-search.ts';

const maskSecrets = (result: NodeResult, secrets: Iterable<string>): NodeResult =>
  finishWork(masking(result, secrets));

const SECRET = `p@ss/w"rd ?é<!'`;

function masked(output: JsonObject, ...secrets: string[]): JsonValue {
  const result = maskSecrets(success(output), secrets.length === 0 ? [SECRET] : secrets);
  return result.kind === 'success' ? result.output : null;
}

function maskedText(text: string, secret: string): string {
  return (masked({ text }, secret) as { readonly text: string }).text;
}

describe('a secret', () => {
  test.each([
    ['as it is', SECRET],
    ['in a URL', encodeURIComponent(SECRET)],
    ['in a URL with small letters', encodeURIComponent(SECRET).toLowerCase()],
    ['in a form', new URLSearchParams([['', SECRET]]).toString().slice(1)],
    ['in a URL that reserves more', 'p%40ss%2Fw%22rd%20%3F%C3%A9%3C%21%27'],
    ['in a form with small letters', 'p%40ss%2fw%22rd+%3f%c3%a9%3c%21%27'],
    ['in a JSON text', JSON.stringify(SECRET).slice(1, -1)],
    ['in a JSON text of PHP', `p@ss\\/w\\"rd ?\\u00e9<!'`],
    ['in a JSON text of Python', `p@ss/w\\"rd ?\\u00e9<!'`],
    ['in a page', 'p@ss/w&quot;rd ?é&lt;!&#39;'],
    ['in base64', Buffer.from(SECRET).toString('base64')],
    ['in base64 of URLs', Buffer.from(SECRET).toString('base64url')],
  ])('is masked %s', (_where, text) => {
    expect(masked({ a: `before ${text} after` })).toEqual({ a: 'before *** after' });
  });

  test('is masked at any depth, in lists and member names', () => {
    const output = { list: [{ [`x${SECRET}`]: [SECRET, 1, null, true] }], __proto__: null };
    expect(masked(output)).toEqual({ list: [{ 'x***': ['***', 1, null, true] }] });
  });

  test('is masked when it comes back as a number', () => {
    const output = parseJson('{"pin":471147114711,"exact":90071992547409931,"n":17}') as JsonObject;
    expect(masked(output, '471147114711', '90071992547409931')).toEqual({ pin: '***', exact: '***', n: 17 });
  });

  test('that is part of another leaves nothing of the longer one', () => {
    expect(masked({ a: 'abcdef-ghijkl abcdef' }, 'abcdef', 'abcdef-ghijkl')).toEqual({ a: '*** ***' });
  });

  test('of one or two letters stays: otherwise nothing would be left of the output', () => {
    expect(masked({ a: 'abc' }, 'a', '', 'ab')).toEqual({ a: 'abc' });
  });

  test('is masked in messages and logs, and not in what the engine relies on', () => {
    const log = [{ level: 'info', text: 'the code is failure' }] as const;
    const result = maskSecrets(failure('failure', verbatim('it was failure'), { output: {}, log }), [
      'failure',
    ]);
    expect(result).toMatchObject({
      kind: 'failure',
      code: 'failure',
      message: verbatim('it was ***'),
      log: [{ level: 'info', text: 'the code is ***' }],
    });
    expect(maskSecrets(success({}, { handles: ['branch'] }), ['branch'])).toMatchObject({
      handles: ['branch'],
    });
  });
});

test('values nested too deeply to be stored end the masking, not the process', () => {
  let output: JsonObject = { secret: SECRET };
  for (let depth = 0; depth < 100_000; depth++) output = { in: output };
  const result = maskSecrets(success(output), [SECRET]);
  expect(stringifyJson((result as { output: JsonObject }).output)).not.toContain(SECRET);
});

test('a long text is looked through in pieces, one for each way to read it', () => {
  const text = Buffer.alloc(1_500_000, 'nothing secret ').toString('base64');
  const work = masking(success({ text }), [SECRET]);
  const pieces: number[] = [];
  for (let piece = work.next(); piece.done !== true; piece = work.next()) pieces.push(piece.value);
  expect(pieces.length).toBeGreaterThan(10);
  expect(Math.max(...pieces)).toBeLessThan((2 * text.length) / 1_024);
});

/** Every way to encode a text that masking sees through; `around` is encoded with it where possible. */
const ENCODINGS: { readonly [name: string]: (text: string, choose: () => boolean) => string } = {
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 in lines': (text) =>
    Buffer.from(text)
      .toString('base64')
      .replaceAll(/.{1,76}/g, '$&\r\n'),
  'hex in small letters': (text) => Buffer.from(text).toString('hex'),
  'hex in capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  URL: (text) => encodeURIComponent(text),
  form: (text) => new URLSearchParams([['', text]]).toString().slice(1),
  'URL, every byte': (text) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&'),
  'URL, some bytes': (text, choose) =>
    [...Buffer.from(text)]
      .map((byte) => (UNRESERVED.test(letter(byte)) && choose() ? letter(byte) : percent(byte)))
      .join(''),
  JSON: (text) => JSON.stringify(text).slice(1, -1),
  'JSON, some characters by number': (text, choose) =>
    [
      ...JSON.stringify(text)
        .slice(1, -1)
        .matchAll(/\\u[0-9a-f]{4}|\\.|[\s\S]/gu),
    ]
      .map(([each]) => (each.startsWith('\\') || choose() ? each : each.replaceAll(/[\s\S]/g, unicode)))
      .join(''),
  'JSON, every character by number': (text) => text.replaceAll(/[\s\S]/g, unicode),
  HTML: (text) => text.replaceAll(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`),
};

const UNRESERVED = /[\w.~-]/;

function letter(byte: number): string {
  return String.fromCharCode(byte);
}

function percent(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}

function unicode(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Surroundings use characters that no secret has, so that any remains of a secret show. */
const surrounding = fc.string({ unit: fc.constantFrom(...'xyz  ~.,;:'), maxLength: 12 });
const secretText = fc
  .oneof(
    fc.string({
      unit: fc.constantFrom(...'ABCDEFGHIJKLMNOPabcdefghijklm0123456789'),
      minLength: 8,
      maxLength: 60,
    }),
    fc.string({ unit: fc.constantFrom(...'ABCab01%+/=\\"\'&<>?# é漢😀\n{}'), minLength: 8, maxLength: 40 }),
  )
  // A secret made of one repeated piece is found at several positions within itself.
  .filter((text) => new Set(text).size > 4 && text.trim() === text);
const names = fc.constantFrom(...Object.keys(ENCODINGS));

function encode(name: string, text: string, bits: readonly boolean[]): string {
  let at = 0;
  const choose = (): boolean => bits[at++ % bits.length] ?? false;
  return ENCODINGS[name]?.(text, choose) ?? text;
}

/** Decodes a text the one way it was encoded. */
function decode(name: string, text: string): string {
  if (name.startsWith('base64')) return Buffer.from(text.replaceAll('***', ''), 'base64').toString();
  if (name.startsWith('hex')) return Buffer.from(text.replaceAll('***', ''), 'hex').toString();
  return text;
}

describe('any secret', () => {
  test('is masked in every encoding, at every alignment, and the text around it stays', () => {
    fc.assert(
      fc.property(
        secretText,
        surrounding,
        surrounding,
        names,
        fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }),
        (secret, before, after, name, bits) => {
          const text = encode(name, `${before}${secret}${after}`, bits);
          const shown = maskedText(text, secret);
          expect(shown).not.toBe(text);
          expect(decode(name, shown)).not.toContain(secret);
          // A text that is base64 as a whole stays so, with the secret masked inside.
          if (name === 'base64' && secret.length >= 6) {
            expect(Buffer.from(shown, 'base64').toString()).toBe(`${before}***${after}`);
          }
        },
      ),
      { numRuns: runs(400) },
    );
  });

  // Those that encode some characters only would encode all of them here.
  const distinct = Object.keys(ENCODINGS).filter((name) => !name.includes('some'));
  test.each(['plain', ...distinct])('is masked where two pieces of a long text meet: %s', (name) => {
    const secret = 'Sec-ret/of+2 "words"';
    const filler = 'x,y ';
    const lengthOf = (text: string) => encode(name, text, [true]).length;
    // So many that the secret lies across the end of a piece.
    const wanted = STRIDE - lengthOf(secret) / 2;
    const count = Math.floor((wanted * 50_000) / lengthOf(filler.repeat(50_000)));
    for (let shift = 0; shift < 4; shift += 1) {
      const before = filler.repeat(count) + 'z'.repeat(shift);
      const text = encode(name, `${before}${secret}${filler.repeat(300)}`, [true]);
      expect(Math.abs(lengthOf(before) - wanted)).toBeLessThan(lengthOf(secret) / 2);
      expect(decode(name, maskedText(text, secret))).not.toContain(secret);
    }
  });

  test('is masked in two encodings, one inside the other', () => {
    fc.assert(
      fc.property(
        secretText,
        surrounding,
        surrounding,
        names,
        names,
        fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }),
        (secret, before, after, inner, outer, bits) => {
          const within = encode(inner, `${before}${secret}${after}`, bits);
          const text = encode(outer, `${after}${within}${before}`, bits);
          const shown = maskedText(text, secret);
          expect(shown).not.toBe(text);
          expect(decode(outer, shown)).not.toContain(encode(inner, secret, bits));
        },
      ),
      { numRuns: runs(400) },
    );
  });
});
