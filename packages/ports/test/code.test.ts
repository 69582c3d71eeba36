import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type CodeLanguage, type JsonValue, parseJson, ServiceError, stringifyJson } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { registry } from '@millrace/nodes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NATIVE_LOOP, type Sandbox, startSandbox } from './code-sandbox.ts';

const MIB = 1024 * 1024;

let code: Sandbox;
beforeAll(() => {
  code = startSandbox({ maxOutputBytes: 16 * MIB, maxThreads: 2 });
});
afterAll(() => code.close());

const run: Sandbox['run'] = (source, options) => code.run(source, options);
const resultOf: Sandbox['resultOf'] = (source, options) => code.resultOf(source, options);
const failureOf: Sandbox['failureOf'] = (source, options) => code.failureOf(source, options);

describe('values', () => {
  it.each<JsonValue>([
    null,
    true,
    0,
    -1.5e-7,
    1.7976931348623157e308,
    'text',
    'é\u0000\ud83d\ude00\ud800 "quoted" \\',
    [],
    {},
    [1, [2, [null]]],
    { '': 1, 'a b': { 'c.d': [] }, constructor: 2, toString: 3, length: 4 },
  ])('%j goes in and comes out', async (input) => {
    expect(await resultOf('return input', { input })).toEqual(input);
  });

  it('loses no digit and no member', async () => {
    const text =
      '{"big":9007199254740993,"neg":-123456789012345678901234567890,"huge":1e400,"fine":[0.12345678901234567890123],"__proto__":{"x":1,"y":[18446744073709551615]}}';
    const input = parseJson(text);
    expect(stringifyJson(await resultOf('return input', { input }))).toBe(text);
    expect(stringifyJson(await resultOf('return { copy: { ...input } }', { input }))).toContain('1e400');
  });

  it('represents integers beyond a double as BigInt, others by their significant digits', async () => {
    const input = parseJson('{"id":9007199254740993,"share":0.12345678901234567890123}');
    expect(
      await resultOf(
        'return [typeof input.id, String(input.id), typeof input.share, `${input.share}`, input.share * 2, JSON.stringify({ s: input.share })]',
        { input },
      ),
    ).toEqual([
      'bigint',
      '9007199254740993',
      'object',
      '0.12345678901234567890123',
      0.12345678901234568 * 2,
      '{"s":0.12345678901234568}',
    ]);
    expect(stringifyJson(await resultOf('return [input.id + 1n, 2n, -(2n ** 70n)]', { input }))).toBe(
      '[9007199254740994,2,-1180591620717411303424]',
    );
  });

  it('serialises like JSON', async () => {
    const source =
      'return { gone: undefined, list: [undefined, , 1], date: new Date(0), zero: -0, own: { toJSON() { return { a: 1n } } }, instance: new (class { b = 2; #c = 3 })() }';
    expect(await resultOf(source)).toEqual({
      list: [null, null, 1],
      date: '1970-01-01T00:00:00.000Z',
      zero: 0,
      own: { a: 1 },
      instance: { b: 2 },
    });
    expect(await resultOf('')).toBeNull();
    expect(await resultOf('return undefined')).toBeNull();
  });

  it.each([
    ['return () => 1', 'result is a function'],
    ['return { a: [0, { f() {} }] }', 'result.a[1].f is a function'],
    ['return [Symbol("x")]', 'result[0] is a symbol'],
    ['return { share: 0 / 0 }', 'result.share is NaN'],
    ['return [1, -Infinity]', 'result[1] is -Infinity'],
    ['return { m: new Map() }', 'result.m is a Map, which JSON cannot say; use Object.fromEntries(map)'],
    ['return new Set([1])', 'result is a Set'],
    ['return new Uint8Array(2)', 'result is a typed array'],
    ['return new RangeError("x")', 'result is an Error'],
    ['return [Promise.resolve(1)]', 'result[0] is a promise'],
    ['const a = { b: {} }; a.b.c = [a]; return a', 'The result contains itself'],
    ['let a = 1; for (let i = 0; i < 1001; i++) a = [a]; return a', 'nested deeper than 1000 levels'],
    ['let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; return a', 'nested deeper than 1000 levels'],
  ])('refuses the result of %s', async (source, message) => {
    expect(await failureOf(source)).toMatchObject({
      code: 'code_error',
      retryable: false,
      message: saying(message),
    });
  });

  it('accepts a result as deep as outputs may be', async () => {
    const value = await resultOf('let a = 1; for (let i = 0; i < 1000; i++) a = [a]; return a');
    expect(stringifyJson(value)).toBe(`${'['.repeat(1000)}1${']'.repeat(1000)}`);
    expect(await resultOf('return input', { input: value })).toEqual(value);
  });

  it('returns 10 MB, and refuses more than the limit', async () => {
    const text = await resultOf('return "x".repeat(10_000_000)');
    expect(text).toBe('x'.repeat(10_000_000));
    const error = await failureOf('return "x".repeat(17_000_000)', { memoryMib: 128 });
    expect(error).toMatchObject({
      code: 'code_output_too_large',
      message: saying('16777216 bytes'),
    });
  });

  it('returns the complete result or none, however little memory is left', async () => {
    const ends = new Set<string>();
    for (let memoryMib = 3; memoryMib <= 12; memoryMib += 1) {
      for (const length of [200_000, 400_000, 800_000, 1_600_000]) {
        const ended = await run(`return ["a", "é".repeat(${length}), "b"]`, { memoryMib }).catch(
          (error: unknown) => error,
        );
        if (ended instanceof ServiceError) {
          expect(ended.code).toBe('code_memory');
          ends.add('none');
        } else {
          expect(ended).toEqual({ value: ['a', 'é'.repeat(length), 'b'], log: [] });
          ends.add('all');
        }
      }
    }
    expect([...ends].sort()).toEqual(['all', 'none']);
  });

  it('stops serialising at the limit', async () => {
    const small = startSandbox({ maxOutputBytes: 1_000_000, maxThreads: 1 });
    try {
      const rows = 'return Array.from({ length: 20_000 }, (_, id) => ({ id, name: "abc" + id }))';
      expect(await small.resultOf(rows)).toHaveLength(20_000);
      for (const source of [
        'return Array(1e6).fill(12345)',
        'const shared = Array(1_000).fill("abcdefgh"); return Array(1e6).fill(shared)',
        'return { [Symbol.iterator]: 1, ["x".repeat(1e6)]: 1 }',
      ]) {
        expect((await small.failureOf(source)).code).toBe('code_output_too_large');
      }
    } finally {
      await small.close();
    }
  });

  it('counts bytes of the result, not characters', async () => {
    const small = startSandbox({ maxOutputBytes: 12, maxThreads: 1 });
    try {
      expect(await small.resultOf('return "ééééé"')).toBe('ééééé');
      expect((await small.failureOf('return "éééééé"')).code).toBe('code_output_too_large');
    } finally {
      await small.close();
    }
  });
});

describe('the language', () => {
  it('supports promises and await, and nothing that waits', async () => {
    const source = `
      const later = async (value) => { await null; return value; };
      const values = await Promise.all([later(1), later(2), 3]);
      const settled = await Promise.allSettled([Promise.reject(new Error('no'))]);
      return [...values, settled[0].reason.message];`;
    expect(await resultOf(source)).toEqual([1, 2, 3, 'no']);
    expect((await failureOf('await new Promise(() => {})')).message).toContain('is never settled');
    expect((await failureOf('setTimeout(() => {}, 1)')).message).toContain("'setTimeout' is not defined");
  });

  it('has the globals of the language and the console, nothing else', async () => {
    const names = await resultOf('return Object.getOwnPropertyNames(globalThis).sort()');
    expect(names).toMatchInlineSnapshot(`
      [
        "AggregateError",
        "Array",
        "ArrayBuffer",
        "BigInt",
        "BigInt64Array",
        "BigUint64Array",
        "Boolean",
        "DataView",
        "Date",
        "Error",
        "EvalError",
        "FinalizationRegistry",
        "Float16Array",
        "Float32Array",
        "Float64Array",
        "Function",
        "Infinity",
        "Int16Array",
        "Int32Array",
        "Int8Array",
        "InternalError",
        "Intl",
        "Iterator",
        "JSON",
        "Map",
        "Math",
        "NaN",
        "Number",
        "Object",
        "Promise",
        "Proxy",
        "RangeError",
        "ReferenceError",
        "Reflect",
        "RegExp",
        "Set",
        "SharedArrayBuffer",
        "String",
        "Symbol",
        "SyntaxError",
        "TextDecoder",
        "TextEncoder",
        "TypeError",
        "URIError",
        "URL",
        "URLSearchParams",
        "Uint16Array",
        "Uint32Array",
        "Uint8Array",
        "Uint8ClampedArray",
        "WeakMap",
        "WeakRef",
        "WeakSet",
        "atob",
        "btoa",
        "console",
        "crypto",
        "decodeURI",
        "decodeURIComponent",
        "encodeURI",
        "encodeURIComponent",
        "escape",
        "eval",
        "globalThis",
        "isFinite",
        "isNaN",
        "parseFloat",
        "parseInt",
        "structuredClone",
        "undefined",
        "unescape",
      ]
    `);
  });

  it('uses UTC, wherever the host is', async () => {
    expect(await resultOf('return new Date(2026, 6, 1).toISOString()')).toBe('2026-07-01T00:00:00.000Z');
    const script = `
      import { createCodeService } from ${JSON.stringify(new URL('../src/code.ts', import.meta.url).href)};
      const services = createCodeService({ maxOutputBytes: 1000 });
      const order = { source: 'return new Date(2026, 6, 1).getTimezoneOffset()', input: {}, timeoutMs: 20000, memoryBytes: 2 ** 25 };
      const { value } = await services.service({ organisationId: 1 }).run(order, new AbortController().signal);
      console.log(JSON.stringify(value));`;
    const env = { ...process.env, TZ: 'Asia/Tokyo' };
    // It ends although nobody closes the service: an idle thread keeps no process alive.
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', script],
      { env, cwd: fileURLToPath(new URL('..', import.meta.url)) },
    );
    expect(stdout).toBe('0\n');
  });

  it('is strict', async () => {
    expect((await failureOf('undeclared = 1')).message).toContain("'undeclared' is not defined");
    expect(await resultOf('return this === undefined')).toBe(true);
  });

  it.each([
    ['const a = 1;\nreturn a.b.c', "TypeError: cannot read property 'c' of undefined (line 2, column 11)"],
    ['  foo()', "ReferenceError: 'foo' is not defined (line 1, column 3)"],
    ['function f() {\n  throw new RangeError("no")\n}\n\nf()', 'RangeError: no (line 2, column 23)'],
    ['await null;\nthrow new Error("late")', 'Error: late (line 2, column 16)'],
    ['return 1 +;', /^SyntaxError: .* \(line 1, column 11\)$/],
    ['const a = 1;\nconst a = 2;', /^SyntaxError: .*\(line 2, column \d+\)$/],
    ['return (1', /^SyntaxError: a bracket, .*not closed.* \(at the end of the code\)$/],
    ['return 1 }', /^SyntaxError: a bracket, .*too often.* \(at the end of the code\)$/],
    ['import fs from "fs"', /^SyntaxError: .*\(line 1, column \d+\)$/],
    ['throw "text"', 'The code threw "text"'],
    ['throw { status: 5 }', 'The code threw { status: 5 }'],
    ['throw null', 'The code threw null'],
    ['throw undefined', 'The code threw undefined'],
    ['throw Object.assign(new Error(), { name: "" })', /^Error/],
    ['throw new Proxy({}, { getPrototypeOf() { throw 1 } })', /cannot be read/],
    ['const e = new Error("x"); e.stack = "at code.js:2:9"; throw e', 'Error: x (line 1, column 9)'],
    ['const e = new Error("x"); e.stack = { split() { throw 1 } }; throw e', 'Error: x'],
    ['throw Object.defineProperty(new Error("x"), "message", { get() { throw 1 } })', /cannot be read/],
  ])('explains %s', async (source, message) => {
    const error = await failureOf(source);
    expect(error.code).toBe('code_error');
    if (typeof message === 'string') expect(error.message).toBe(message);
    else expect(error.message).toMatch(message);
  });

  it('shortens the message of an error', async () => {
    expect((await failureOf('throw new Error("x".repeat(1e6))')).message.length).toBeLessThan(2_100);
  });
});

describe('the console', () => {
  it('is kept, with its levels', async () => {
    const { log } = await run(
      'console.log("a", 1, [1, { b: "c" }]); console.info(null, undefined); console.warn(2n); console.error(new TypeError("x")); console.debug(() => 1, {}, Symbol("s"))',
    );
    expect(log).toEqual([
      { level: 'info', text: 'a 1 [1, { b: "c" }]' },
      { level: 'info', text: 'null undefined' },
      { level: 'warn', text: '2n' },
      { level: 'error', text: 'TypeError: x' },
      { level: 'debug', text: '[function] {} Symbol(s)' },
    ]);
  });

  it('loses no character, and neither do messages', async () => {
    const text = 'a\u0000b "é\ud83d\ude00\ud800\\"';
    const source = 'console.log(input); throw new Error(input)';
    const error = await failureOf(source, { input: text });
    expect(error.details).toEqual({ log: [{ level: 'info', text }] });
    expect(error.message).toBe(`Error: ${text} (line 1, column 36)`);
  });

  it('is kept if the code fails, however it ends', async () => {
    for (const end of [
      'throw new Error("x")',
      'for (;;);',
      '/(a+)+$/.test("a".repeat(40) + "b")',
      NATIVE_LOOP,
    ]) {
      const error = await failureOf(`console.log("before"); ${end}`, { timeoutMs: 300 });
      expect(error.details).toEqual({ log: [{ level: 'info', text: 'before' }] });
    }
  });

  it('is truncated, and says so', async () => {
    const { log } = await run('for (let i = 0; i < 1e5; i++) console.log(i)');
    expect(log).toHaveLength(201);
    expect(log[199]).toEqual({ level: 'info', text: '199' });
    expect(log[200]).toMatchObject({ level: 'warn', text: expect.stringContaining('at most 200 lines') });
    const long = await run('console.log("x".repeat(1e6)); console.log(Array(1e6).fill(1))');
    expect(long.log[0]?.text).toMatch(/^x{8192}… \(cut\)$/);
    expect(long.log[1]?.text).toContain('… 999900 more]');
    const bytes = await run('for (let i = 0; i < 100; i++) console.log("x".repeat(5000))');
    expect(bytes.log).toHaveLength(14);
  });

  it('shows unprintable values without failing', async () => {
    const { log } = await run(`
      const cycle = {}; cycle.self = cycle;
      console.log(cycle);
      console.log({ get bad() { throw new Error('x'); } });
      console.log(new Proxy({}, { ownKeys() { throw new Error('x'); } }));
      console.log(Object.create(null));`);
    expect(log.map(({ text }) => text)).toEqual([
      '{ self: { self: { self: { self: { self: {…} } } } } }',
      '[not readable]',
      '[not readable]',
      '{}',
    ]);
  });
});

describe('the examples of core.code', () => {
  const definition = registry('core.code');
  it.each(definition?.examples ?? [])(
    '$title',
    { timeout: 120_000 },
    async ({ config, trigger, expect: expected }) => {
      const {
        language = 'javascript',
        code: source,
        input = {},
      } = config as { language?: CodeLanguage; code: string; input?: { [name: string]: JsonValue } };
      const data = trigger as { [name: string]: JsonValue } | undefined;
      // Each member of these inputs is a template that reads the trigger's member of that name.
      const given = Object.fromEntries(Object.keys(input).map((name) => [name, data?.[name] ?? null]));
      if ('failure' in expected) {
        expect((await failureOf(source, { language, input: given })).code).toBe(expected.failure.code);
      } else if ('handles' in expected || 'output' in expected) {
        expect({ result: await resultOf(source, { language, input: given }) }).toEqual(expected.output);
      }
    },
  );
});
