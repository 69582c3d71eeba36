import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NATIVE_LOOP, type Sandbox, startSandbox } from './code-sandbox.ts';

const MIB = 1024 * 1024;

let code: Sandbox;
beforeAll(() => {
  code = startSandbox({ maxOutputBytes: 16 * MIB, maxThreads: 2 });
});
afterAll(() => code.close());

describe('bombs', () => {
  const server = createServer((_request, response) => response.end('alive'));
  let address = '';
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());

  const TIME = 'code_timeout';
  const MEMORY = 'code_memory';
  it.each([
    ['an endless loop', 'for (;;);', TIME],
    ['an endless loop that catches', 'for (;;) try { for (;;); } catch {}', TIME],
    ['an endless loop in finally', 'try { for (;;); } finally { for (;;); }', TIME],
    ['endless microtasks', 'for (;;) await null', TIME],
    [
      'microtasks that make microtasks',
      'const again = () => { Promise.resolve().then(again); }; again(); await new Promise(() => {})',
      TIME,
    ],
    [
      'an endless loop after an interrupted one',
      '(async () => { for (;;); })().catch(() => { for (;;); }); for (;;) await null',
      TIME,
    ],
    ['an endless thenable', 'return { then(resolve) { resolve(this) } }', TIME],
    ['an endless generator', 'return [...(function* () { for (;;) yield 1 })()]', MEMORY],
    ['an endless getter of the result', 'return { get a() { for (;;); } }', TIME],
    ['an endless toJSON', 'return { toJSON() { for (;;); } }', TIME],
    ['an endless list of keys', 'return new Proxy({}, { ownKeys() { for (;;); } })', TIME],
    [
      'an endless chain of prototypes',
      'const p = new Proxy({}, { getPrototypeOf() { for (;;); } }); throw p',
      TIME,
    ],
    ['a regular expression that backtracks', 'return /(a+)+$/.test("a".repeat(40) + "b")', TIME],
    ['a loop in native code', `return ${NATIVE_LOOP}`, TIME],
    ['a huge join', 'return Array(4e9).join("")', TIME],
    ['a huge list as result', 'return Array(4e9)', TIME],
    ['a sort that never ends', 'return [3, 2, 1].sort(() => { for (;;); })', TIME],
    ['a list that grows', 'const a = []; for (;;) a.push(1, 2, 3)', MEMORY],
    ['objects that pile up', 'const a = []; for (;;) a.push({})', MEMORY],
    ['a list that is filled', 'return Array(1e9).fill(1)', MEMORY],
    ['typed arrays', 'const a = []; for (;;) a.push(new Uint8Array(1e6))', MEMORY],
    ['one huge buffer', 'return new ArrayBuffer(1e9).byteLength', MEMORY],
    ['a huge text', 'return "x".repeat(2 ** 29)', MEMORY],
    ['a text that doubles', 'let s = "x"; for (let i = 0; i < 28; i++) s += s; return s.split("")', MEMORY],
    [
      'JSON of something huge',
      'const a = Array(1e6).fill("0123456789"); return JSON.stringify([a, a, a, a, a, a, a, a])',
      MEMORY,
    ],
    ['a huge sort', 'return Array.from({ length: 5e6 }, (_, i) => -i).sort()', MEMORY],
    [
      'promises that pile up',
      'for (;;) new Promise(() => {}).then(() => {}), globalThis.a = [globalThis.a, Promise.resolve()]',
      MEMORY,
    ],
    ['a map that grows', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, i)', MEMORY],
    ['a closure chain', 'let f = null; for (;;) { const g = f; f = () => g; }', MEMORY],
  ])('%s is stopped, and everything else continues', async (_title, source, expected) => {
    const bomb = code.failureOf(source, {
      timeoutMs: expected === TIME ? 100 : 60_000,
      memoryMib: 8,
    });
    const [answer, value] = await Promise.all([
      fetch(address).then((response) => response.text()),
      code.resultOf('return 6 * 7'),
    ]);
    expect([answer, value]).toEqual(['alive', 42]);
    expect(await bomb).toMatchObject({ code: expected, retryable: false });
    expect(await code.resultOf('return "next"')).toBe('next');
  });

  it.each([
    ['a stack that overflows', '(function f() { f(); })()', 'stack overflow'],
    [
      'a stack of natives',
      'const a = []; a[0] = a; a.toString = function () { return String(this[0]) }; return String(a)',
      'stack overflow',
    ],
    [
      'a proxy of a proxy',
      'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x',
      'stack overflow',
    ],
    ['JSON that is nested', 'return JSON.parse("[".repeat(1e6))', 'stack overflow'],
    [
      'writing what is nested',
      'let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return JSON.stringify(o)',
      'stack overflow',
    ],
    ['code that is nested', 'return eval("(".repeat(1e5))', 'stack overflow'],
    ['a pattern that is nested', 'return new RegExp("(".repeat(1e5) + ")".repeat(1e5))', 'captures'],
    ['a BigInt beyond all bounds', 'return 3n ** (2n ** 62n)', 'BigInt is too large'],
    ['a text beyond all bounds', 'let s = "x"; for (;;) s += s', 'string too long'],
    ['too many arguments', 'return Math.max(...Array(1e6).fill(1))', /too many arguments|stack overflow/i],
  ])('%s is an error of the code', async (_title, source, message) => {
    const error = await code.failureOf(source);
    expect(error).toMatchObject({ code: 'code_error' });
    expect(error.message).toMatch(message);
  });

  it('in any number leave other organisations their turn', async () => {
    // With one thread they end in the order in which they start.
    const one = startSandbox({ maxOutputBytes: MIB, maxThreads: 1 });
    try {
      const ends: string[] = [];
      const bombs = Array.from({ length: 5 }, async (_, index) => {
        const source = index % 2 === 0 ? 'for (;;);' : `return ${NATIVE_LOOP}`;
        expect((await one.failureOf(source, { timeoutMs: 100 })).code).toBe('code_timeout');
        ends.push('bomb');
      });
      const others = Array.from({ length: 3 }, async () => {
        await one.resultOf('return 1', { owner: 2 });
        ends.push('other');
      });
      await Promise.all([...bombs, ...others]);
      expect(ends).toEqual(['bomb', 'bomb', 'other', 'bomb', 'other', 'bomb', 'other', 'bomb']);
    } finally {
      await one.close();
    }
  });

  it('may use up its memory, catch the error and continue', async () => {
    const source = 'let a = []; try { for (;;) a.push({}) } catch { a = null; return "went on" }';
    expect(await code.resultOf(source, { memoryMib: 16 })).toBe('went on');
  });

  it('may be promises that wait for promises, all of which are kept', async () => {
    const source = 'const again = () => Promise.resolve().then(again); await again()';
    // A few bytes decide whether the promise that can't allocate memory throws or is lost.
    for (const bytes of [0, 6, 12, 24]) {
      const padded = `const padding = new Uint8Array(${bytes}); ${source}`;
      const error = await code.failureOf(padded, { timeoutMs: 60_000, memoryMib: 8 });
      expect(error.code).toBe('code_memory');
    }
    // Never settling with memory to spare is a different error.
    const idle = await code.failureOf('await new Promise(() => {})', { memoryMib: 32 });
    expect(idle.code).toBe('code_error');
  });

  it("can't be hidden by catching the interrupt", async () => {
    for (const source of [
      'try { for (;;); } catch { return 1 }',
      'return (async () => { for (;;); })().catch(() => 1)',
      'return await Promise.race([(async () => { for (;;); })(), 1])',
    ]) {
      expect((await code.failureOf(source, { timeoutMs: 100 })).code).toBe('code_timeout');
    }
  });
});

describe('escape attempts', () => {
  it.each([
    'return constructor.constructor("return process")()',
    'return (() => {}).constructor("return process")()',
    'return Function("return process")()',
    'return (async () => {}).constructor("return process")()',
    'return input.constructor.constructor("return process")()',
    'return console.log.constructor("return process")()',
    'return globalThis.process.env',
    'return eval("process")',
    'return (0, eval)("process")',
    'return require("fs")',
    'return await import("node:fs")',
    'return await import("./harness.js")',
    'return await eval("import(\'node:fs\')")',
    'return module',
    'return WebAssembly',
    'return fetch("http://127.0.0.1/")',
    'return new Worker("x")',
    'return __proto__.process.env',
    'return print("x")',
    'return std.loadFile("/etc/passwd")',
    'return os.exec(["id"])',
    'return scriptArgs',
    'return putResult("1")',
    'return arguments.callee',
    'return (function f() { return f.caller })()',
  ])('%s leads nowhere', async (source) => {
    expect(await code.failureOf(source)).toMatchObject({ code: 'code_error' });
  });

  it.each([
    // Whatever host functions throw or return is made of the sandbox's own objects.
    'try { console.log.call(null, { toString: null }) } catch (e) { return e.constructor.constructor("return typeof process")() } return "undefined"',
    'Error.prepareStackTrace = (_, frames) => frames; const { stack } = new Error("x"); return typeof stack === "string" ? "undefined" : typeof stack[0].getThis',
    'try { null.x } catch (e) { return e.constructor.constructor("return typeof process")() }',
    'return Object.getPrototypeOf(async function () {}).constructor("return typeof process")()',
    'return Reflect.construct(Function, ["return typeof process"])()',
    'return [].at[Symbol.hasInstance].constructor("return typeof process")()',
  ])('no object belongs to the host: %s', async (source) => {
    const value = await code.resultOf(source);
    expect(value).toBe('undefined');
  });

  it('stack traces reach no function of the harness', async () => {
    const source = `
      let seen = 'nothing';
      const spy = { get a() { try { seen = String(spy.get.caller); } catch (e) { seen = e.name; } return 1; } };
      globalThis.seen = () => seen;
      return { spy, get after() { return seen; } };`;
    expect(await code.resultOf(source)).toEqual({ spy: { a: 1 }, after: 'TypeError' });
  });
});

describe('tampering', () => {
  it.each([
    'JSON.stringify = () => "{}"; JSON.parse = () => 1',
    'JSON = null; Object = null; Array = null; Promise = null; Reflect = null; String = null; Number = null; Error = null',
    'Object.keys = () => ["x"]; Array.isArray = () => false; Number.isFinite = () => false',
    'Array.prototype.push = Array.prototype.join = Array.prototype.slice = () => "broken"',
    'Array.prototype[Symbol.iterator] = function* () { yield 1 }',
    'Object.defineProperty(Array.prototype, "0", { get() { return "x" }, set() { throw 1 } })',
    'for (const name of ["value", "names", "parent", "at", "count", "depth", "text", "next", "names"]) Object.defineProperty(Object.prototype, name, Object.assign(Object.create(null), { get() { return "x" }, set() { throw 1 }, configurable: true }))',
    'Promise.prototype.then = function () { return this }; Promise.resolve = () => null',
    'Promise.prototype.constructor = null',
    'Object.defineProperty(Promise.prototype, "then", { get() { throw 1 } })',
    'String.prototype.slice = () => "broken"; WeakMap.prototype.get = () => "9"',
    'console.log = null; console = null; globalThis.console = { log() { throw 1 } }',
    'Function.prototype.call = Function.prototype.apply = () => "broken"; Reflect.apply = () => "broken"',
    'Symbol.prototype.toString = () => { throw 1 }; Object.prototype.toString = () => { throw 1 }',
    'Object.setPrototypeOf(Object.prototype.constructor, null); Object.freeze(Object.prototype); Object.freeze(Array.prototype)',
    'const { deleteProperty, ownKeys } = Reflect; const g = globalThis; for (const k of ownKeys(g)) deleteProperty(g, k)',
  ])('the result is what the code returned, whatever it did before: %s', async (source) => {
    const result = 'return { a: [1, "b", { c: null }], d: -1.5, e: true, f: 2n }';
    expect(await code.resultOf(`${source}; ${result}`)).toEqual({
      a: [1, 'b', { c: null }],
      d: -1.5,
      e: true,
      f: 2,
    });
  });

  it('the error is reported, whatever the code did before', async () => {
    const source =
      'Error.prototype.toString = String = null; Error = null; Array.prototype.join = null; null.x';
    expect((await code.failureOf(source)).message).toBe(
      "TypeError: cannot read property 'x' of null (line 1, column 90)",
    );
  });

  it('a forged result is still JSON and within the limit', async () => {
    expect(await code.resultOf('return { toJSON: () => "\\"},{\\"" }')).toBe('"},{"');
    const changing =
      'let n = 0; return [{ get a() { return n++ } }, new Proxy([], { get: (t, k) => k === "length" ? 2 : n++ })]';
    expect(await code.resultOf(changing)).toEqual([{ a: 0 }, [expect.any(Number), expect.any(Number)]]);
    const growing =
      'return new Proxy([], { get: (t, k) => k === "length" ? 2 ** 53 : "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".repeat(1000) })';
    expect((await code.failureOf(growing)).code).toBe('code_output_too_large');
  });

  it('members named __proto__ are data in both directions', async () => {
    const input = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}}}');
    const value = await code.resultOf(
      'const out = Object.create(null); out.same = input; out.seen = {}.polluted === undefined; Object.defineProperty(out, "__proto__", { value: { polluted: 3 }, enumerable: true }); return out',
      { input },
    );
    expect(JSON.stringify(value)).toBe(
      '{"same":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}}},"seen":true,"__proto__":{"polluted":3}}',
    );
    expect(Object.hasOwn(value as object, '__proto__')).toBe(true);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('braces that close the function lead out of it, but not out of the sandbox', async () => {
    expect(await code.resultOf('return 1 }), (function () { return typeof process')).toBe('undefined');
    expect((await code.failureOf('}); ({ a: 1')).message).toBe(
      'SyntaxError: the braces of the code do not match.',
    );
  });

  it('nothing of a run is left for the next', async () => {
    const one = startSandbox({ maxOutputBytes: MIB, maxThreads: 1 });
    try {
      const names = 'Reflect.ownKeys(globalThis).map(String).sort().join()';
      const clean = await one.resultOf(`return ${names}`);
      await one.failureOf(
        'globalThis.left = 1; Object.prototype.left = 2; Array.prototype.map = null; Math.max = null; delete globalThis.Date; new FinalizationRegistry(() => {}).register({}, 1); Promise.resolve().then(() => { for (;;) globalThis.later = 1 }); return 1',
        { timeoutMs: 100 },
      );
      expect(await one.resultOf(`return ${names}`)).toBe(clean);
      expect(await one.resultOf('return [typeof left, {}.left === undefined, Math.max(1, 2)]')).toEqual([
        'undefined',
        true,
        2,
      ]);
    } finally {
      await one.close();
    }
  });
});

describe('stopping', () => {
  it('an abort ends a run at once, also in native loops', async () => {
    for (const source of ['for (;;);', `return ${NATIVE_LOOP}`]) {
      const controller = new AbortController();
      const stopped = code.failureOf(source, { timeoutMs: 60_000, signal: controller.signal });
      // The other thread responds, so this one has had time to start.
      await code.resultOf('let n = 0; for (let i = 0; i < 1e6; i++) n += i; return n');
      controller.abort();
      expect(await stopped).toMatchObject({ code: 'aborted', retryable: true });
      expect(await code.resultOf('return 1')).toBe(1);
    }
  });

  it('an abort removes a waiting run from the queue, and an earlier one never starts', async () => {
    const one = startSandbox({ maxOutputBytes: MIB, maxThreads: 1 });
    try {
      const first = new AbortController();
      const second = new AbortController();
      const running = one.failureOf('for (;;);', { timeoutMs: 60_000, signal: first.signal });
      const waiting = one.failureOf('for (;;);', { timeoutMs: 60_000, signal: second.signal });
      const after = one.resultOf('return "after"');
      second.abort();
      expect((await waiting).code).toBe('aborted');
      expect((await one.failureOf('for (;;);', { signal: AbortSignal.abort() })).code).toBe('aborted');
      first.abort();
      expect((await running).code).toBe('aborted');
      expect(await after).toBe('after');
    } finally {
      await one.close();
    }
  });

  it("waiting doesn't count towards the time limit", async () => {
    const one = startSandbox({ maxOutputBytes: MIB, maxThreads: 1 });
    try {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const controller = new AbortController();
      const long = one.failureOf('for (;;);', { timeoutMs: 60_000, signal: controller.signal });
      const short = one.resultOf('return "done"', { timeoutMs: 20_000 });
      await vi.advanceTimersByTimeAsync(40_000);
      controller.abort();
      expect((await long).code).toBe('aborted');
      expect(await short).toBe('done');
    } finally {
      vi.useRealTimers();
      await one.close();
    }
  });

  it('close ends running and waiting runs, and accepts no more', async () => {
    const one = startSandbox({ maxOutputBytes: MIB, maxThreads: 1 });
    const runs = Array.from({ length: 3 }, () => one.failureOf('for (;;);', { timeoutMs: 60_000 }));
    await one.close();
    for (const run of runs) expect((await run).code).toBe('aborted');
    expect((await one.failureOf('return 1')).code).toBe('aborted');
  });

  it("hundreds of runs don't accumulate memory", async () => {
    const one = startSandbox({ maxOutputBytes: MIB, maxThreads: 1 });
    try {
      const source = 'const a = []; for (let i = 0; i < 50_000; i++) a.push({ i }); return a.length';
      for (let round = 0; round < 20; round++) await one.resultOf(source);
      const before = process.memoryUsage.rss();
      for (let round = 0; round < 100; round++) await one.resultOf(source);
      expect(process.memoryUsage.rss() - before).toBeLessThan(200 * MIB);
    } finally {
      await one.close();
    }
  });
});
