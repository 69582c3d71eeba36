import {
  failure,
  type JsonObject,
  type JsonValue,
  parseJson,
  stringifyJson,
  success,
} from '@millrace/engine';
import { describe, expect, test } from 'vitest';
import { maskSecrets } from '../../src/worker/mask.ts';

const SECRET = `p@ss/w"rd ?é<!'`;

function masked(output: JsonObject, ...secrets: string[]): JsonValue {
  const result = maskSecrets(success(output), secrets.length === 0 ? [SECRET] : secrets);
  return result.kind === 'success' ? result.output : null;
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

  test('is masked deep inside, in lists and in names of members', () => {
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

  test('of one or two letters stays: nothing would be left of the output', () => {
    expect(masked({ a: 'abc' }, 'a', '', 'ab')).toEqual({ a: 'abc' });
  });

  test('is masked in messages and logs, and changes nothing the engine steers by', () => {
    const log = [{ level: 'info', text: 'the code is failure' }] as const;
    const result = maskSecrets(failure('failure', 'it was failure', { output: {}, log }), ['failure']);
    expect(result).toMatchObject({
      kind: 'failure',
      code: 'failure',
      message: 'it was ***',
      log: [{ level: 'info', text: 'the code is ***' }],
    });
    expect(maskSecrets(success({}, { handles: ['branch'] }), ['branch'])).toMatchObject({
      handles: ['branch'],
    });
  });
});

test('what is nested too deeply to be stored ends the masking, not the process', () => {
  let output: JsonObject = { secret: SECRET };
  for (let depth = 0; depth < 100_000; depth++) output = { in: output };
  const result = maskSecrets(success(output), [SECRET]);
  expect(stringifyJson((result as { output: JsonObject }).output)).not.toContain(SECRET);
});
