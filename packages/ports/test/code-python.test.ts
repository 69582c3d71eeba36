import { parseJson, type ServiceError, stringifyJson } from '@millrace/engine';
import { afterAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from './code-sandbox.ts';

/** Starting Python takes seconds, on a busy machine more. */
const PATIENT = 180_000;
const MIB = 1024 * 1024;
const sandbox = startSandbox({ maxOutputBytes: MIB, maxThreads: 1 });
const python: Pick<Sandbox, 'run' | 'resultOf' | 'failureOf'> = {
  run: (source, options) => sandbox.run(source, { language: 'python', ...options }),
  resultOf: (source, options) => sandbox.resultOf(source, { language: 'python', ...options }),
  failureOf: (source, options) => sandbox.failureOf(source, { language: 'python', ...options }),
};
afterAll(() => sandbox.close());

const told = ({ code, message }: ServiceError): object => ({ code, message });

describe('Python', { timeout: PATIENT }, () => {
  it('gets its input and returns any JSON value', async () => {
    const source =
      'total = sum(line["n"] for line in input["lines"])\nreturn {"total": total, "ok": True, "none": None}';
    const input = { lines: [{ n: 1 }, { n: 2.5 }] };
    expect(await python.resultOf(source, { input })).toEqual({ total: 3.5, ok: true, none: null });
    expect(await python.resultOf('pass')).toBeNull();
    expect(await python.resultOf('# nothing')).toBeNull();
    expect(await python.resultOf('return input', { input: '日本\u0000\u2028' })).toBe('日本\u0000\u2028');
  });

  it('keeps every number digit by digit', async () => {
    const text = '{"a":123456789012345678901234567890,"b":[0.1234567890123456789,1e400],"c":1.5,"d":-0.0}';
    const value = await python.resultOf('return input', { input: parseJson(text) });
    expect(stringifyJson(value)).toBe(
      '{"a":123456789012345678901234567890,"b":[0.1234567890123456789,1E+400],"c":1.5,"d":0}',
    );
    expect(
      await python.resultOf('return [type(input["b"][0]).__name__, type(input["a"]).__name__]', {
        input: parseJson(text),
      }),
    ).toEqual(['Decimal', 'int']);
  });

  it('says what JSON cannot say', async () => {
    const refusals = {
      'return [{1, 2}]': 'The result contains a set, which JSON cannot say; use sorted(values)',
      'return float("nan")': 'The result contains infinity or NaN, which JSON cannot say',
      'return b"x"': 'The result contains bytes, which JSON cannot say; use value.decode() or base64',
      'a = []\na.append(a)\nreturn a': 'The result contains itself, which JSON cannot say',
      'return object()': 'The result contains an object of type object, which JSON cannot say',
    };
    for (const [source, message] of Object.entries(refusals)) {
      expect(told(await python.failureOf(source))).toEqual({ code: 'code_error', message });
    }
    expect(await python.resultOf('import datetime\nreturn datetime.date(2026, 1, 2)')).toBe('2026-01-02');
  });

  it('says where an error is', async () => {
    const errors = {
      'x = 1\nreturn x + y': "NameError: name 'y' is not defined (line 2, column 12)",
      'def f():\n    return 1 / 0\n\nreturn f()': 'ZeroDivisionError: division by zero (line 2, column 12)',
      'return input["nope"]': "KeyError: 'nope' (line 1, column 8)",
      'raise ValueError()': 'ValueError (line 1, column 1)',
      'if True\n    return 1': "SyntaxError: expected ':' (line 1, column 8)",
      'x = (1,\nreturn x': "SyntaxError: '(' was never closed (line 1, column 5)",
      'import numpy': "ModuleNotFoundError: No module named 'numpy' (line 1, column 1)",
      'exit()': 'The code called exit(); use return (line 1, column 1)',
    };
    for (const [source, message] of Object.entries(errors)) {
      expect(told(await python.failureOf(source))).toEqual({ code: 'code_error', message });
    }
  });

  it('logs what it prints, within limits', async () => {
    const { log } = await python.run(
      'import sys\nprint("a", 1)\nprint("b", file=sys.stderr)\nprint("no end", end="")',
    );
    expect(log).toEqual([
      { level: 'info', text: 'a 1' },
      { level: 'warn', text: 'b' },
      { level: 'info', text: 'no end' },
    ]);
    const { log: long, value } = await python.run('for i in range(10000):\n    print(i)\nreturn 7');
    expect([long.length, value]).toEqual([201, 7]);
    const failed = await python.failureOf('print("before")\nraise ValueError("x")');
    expect(failed.details).toEqual({ log: [{ level: 'info', text: 'before' }] });
  });

  it('keeps nothing between runs', async () => {
    await python.run('import builtins, json\nbuiltins.kept = 1\njson.dumps = None\nreturn 1');
    expect(await python.resultOf('import builtins\nreturn hasattr(builtins, "kept")')).toBe(false);
    const random = 'import random, uuid\nreturn [random.random(), str(uuid.uuid4())]';
    expect(await python.resultOf(random)).not.toEqual(await python.resultOf(random));
  });

  it('has the standard library and no time zone of the machine', async () => {
    const source = `import re, math, hashlib, statistics, csv, io, base64, decimal, collections, itertools, urllib.parse, datetime
return [datetime.datetime.now().astimezone().utcoffset().total_seconds(), hashlib.sha256(b"x").hexdigest()[:8], re.sub("a+", "b", "caat")]`;
    expect(await python.resultOf(source)).toEqual([0, '2d711642', 'cbt']);
  });
});

describe('bounds of Python', { timeout: PATIENT }, () => {
  it.each([
    ['a loop', 'while True:\n    pass'],
    [
      'a loop that catches everything',
      'while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass',
    ],
    ['a loop in native code', 'return 7 ** (7 ** 12)'],
    ['sleep', 'import time\ntime.sleep(1000)'],
    ['a pattern', 'import re\nre.match("(a+)+$", "a" * 40 + "b")'],
  ])('stop %s', async (_what, source) => {
    expect((await python.failureOf(source, { timeoutMs: 300 })).code).toBe('code_timeout');
  });

  it.each([
    ['a list', 'a = []\nwhile True:\n    a.append("x" * 100000 + str(len(a)))'],
    ['one string', 'return len("x" * 500_000_000)'],
  ])('stop %s that takes too much memory', async (_what, source) => {
    expect((await python.failureOf(source, { memoryMib: 16 })).code).toBe('code_memory');
  });

  it('end with too large or too deep results, and calls', async () => {
    expect((await python.failureOf('return "x" * 2_000_000')).code).toBe('code_output_too_large');
    const deep = 'a = []\nfor _ in range(900000):\n    a = [a]\nreturn a';
    expect((await python.failureOf(deep)).code).toBe('code_error');
    const endless = 'def f():\n    return f()\nreturn f()';
    expect(told(await python.failureOf(endless))).toEqual({
      code: 'code_error',
      message: 'RecursionError: maximum recursion depth exceeded (line 2, column 12)',
    });
  });

  it('survive an abort by the signal', async () => {
    const signal = AbortSignal.timeout(200);
    expect((await python.failureOf('while True:\n    pass', { signal })).code).toBe('aborted');
    expect(await python.resultOf('return 1')).toBe(1);
  });
});
