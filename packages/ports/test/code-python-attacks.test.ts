import { afterAll, describe, expect, it } from 'vitest';
import { Fence, FencedError, type Guard, LateError } from '../src/code/python/fence.ts';
import { startSandbox } from './code-sandbox.ts';

/** Starting Python takes seconds, on a busy machine more. */
const PATIENT = 180_000;
const sandbox = startSandbox({ maxOutputBytes: 1024 * 1024, maxThreads: 1 });
afterAll(() => sandbox.close());

async function saidOf(source: string): Promise<string> {
  const error = await sandbox.failureOf(source, { language: 'python' });
  expect(error.code).toBe('code_error');
  return error.message;
}

const FENCED = /outside the sandbox \(/;
const HIDDEN =
  'import sys\nhidden = sys.modules["millrace_harness"].hidden\nnames = {getattr(m, "__name__", ""): m for m in hidden}\n';

describe('Python that wants out', { timeout: PATIENT }, () => {
  it('cannot import JavaScript', async () => {
    const names = [
      'js',
      'pyodide_js',
      'pyodide',
      'pyodide.code',
      '_pyodide_core',
      '_pyodide._base',
      'js.process',
    ];
    const source = `import importlib
said = []
for name in input:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        said.append(name)
return said`;
    expect(await sandbox.resultOf(source, { language: 'python', input: names })).toEqual(names);
  });

  it.each([
    ['a function that runs JavaScript', `${HIDDEN}return names["_pyodide_core"].raw_call("1")`],
    [
      'a function of Pyodide that runs JavaScript',
      `${HIDDEN}import sys\nfrom types import ModuleType\nfor m in hidden:\n    if hasattr(m, "run_js"):\n        m.run_js("process.exit(3)")\nreturn 1`,
    ],
  ])('cannot use %s', async (_what, source) => {
    expect(await saidOf(source)).toMatch(/outside the sandbox|ended the Python interpreter/);
  });

  it('cannot use any object of JavaScript on the heap', async () => {
    const source = `import gc
reached = []
for each in gc.get_objects():
    if "JsProxy" in str(type(each)) and not isinstance(each, type):
        reached.append(str(each.constructor.constructor("return process")()))
return reached`;
    // Whether there is one depends on what Python had collected when its memory was copied.
    const said = await sandbox.run(source, { language: 'python' }).then(
      ({ value }) => value,
      (error: Error) => error.message,
    );
    if (typeof said === 'string') expect(said).toMatch(/outside the sandbox|ended the Python interpreter/);
    else expect(said).toEqual([]);
  });

  it.each(['import os\nos.system("id")', 'import os\nos._exit(0)', 'import os\nos.abort()', 'import ctypes'])(
    'ends at the fence: %s',
    async (source) => {
      expect(await saidOf(source)).toMatch(FENCED);
    },
  );

  it('is refused what Python itself asks the system for', async () => {
    const attempts = {
      'subprocess.run(["id"])': 'OSError',
      'socket.create_connection(("127.0.0.1", 80))': 'gaierror',
      'socket.socket()': 'PermissionError',
      'open("/etc/passwd")': 'FileNotFoundError',
      'open("/tmp/x", "w")': 'PermissionError',
      'open("/lib/python314.zip", "ab")': 'PermissionError',
      'open("/dev/stdin").read()': 'PermissionError',
      'open("/dev/tty").read()': 'PermissionError',
      'sys.stdin.read(1)': 'OSError',
      'os.mkdir("/tmp/x")': 'PermissionError',
      'os.chdir("/tmp")': 'PermissionError',
      'os.symlink("/dev/tty", "/lib/x")': 'PermissionError',
      'os.remove("/lib/python314.zip")': 'PermissionError',
      'os.pipe()': 'PermissionError',
      'os.fork()': 'OSError',
      'threading.Thread(target=print).start()': 'RuntimeError',
      'asyncio.run(asyncio.sleep(0))': 'ModuleNotFoundError',
      'input()': 'TypeError',
    };
    const source = `import asyncio, os, sys, subprocess, socket, threading
modules = {"asyncio": asyncio, "os": os, "sys": sys, "subprocess": subprocess, "socket": socket, "threading": threading, "input": input}
said = {}
for each in input:
    try:
        eval(each, modules)
        said[each] = "done"
    except Exception as error:
        said[each] = type(error).__name__
return said`;
    const input = Object.keys(attempts);
    expect(await sandbox.resultOf(source, { language: 'python', input })).toEqual(attempts);
  });

  it('finds nothing of the machine', async () => {
    const source = `import os, sys, platform
return [dict(os.environ), sys.argv, sys.executable, os.listdir("/"), os.getcwd(), sys.path]`;
    const text = JSON.stringify(await sandbox.resultOf(source, { language: 'python' }));
    for (const secret of [process.cwd(), process.execPath, 'node_modules', process.env.HOME ?? '/root']) {
      expect(text).not.toContain(secret);
    }
  });

  it('may write what the host reads as its result, which is then only its own', async () => {
    expect(await saidOf('import os\nos.write(3, b"v{nonsense")\nos.write(3, b"}")')).toBe(
      'The result is not valid JSON, or is nested deeper than 1000 levels.',
    );
    expect(await saidOf('import os\nos.write(3, b"enonsense")')).toMatch(/ended the Python interpreter/);
    expect(await saidOf('import os\nos.write(3, b"?")')).toMatch(/ended the Python interpreter/);
  });

  it('still runs as before afterwards', async () => {
    expect(await sandbox.resultOf('return 1 + 1', { language: 'python' })).toBe(2);
    expect(await sandbox.resultOf('return 1 + 1')).toBe(2);
  });
});

describe('a closed fence', () => {
  const guard: Guard = {
    files: { getStream: () => undefined } as unknown as Guard['files'],
    memory: { buffer: new ArrayBuffer(64) },
    deadlineMs: Number.POSITIVE_INFINITY,
    maxBytes: 1,
    onWrite: () => true,
  };

  it('lets nothing through that it does not know', () => {
    const called: string[] = [];
    const env: Record<string, unknown> = Object.fromEntries(
      [
        'JsProxy_GetAttr_js',
        'emscripten_asm_const_int',
        '_dlopen_js',
        'ffi_call_js',
        'exit',
        '__syscall_socket',
        'fd_pwrite',
      ].map((name) => [name, () => called.push(name)]),
    );
    env.waits = {};
    const names = Object.keys(env);
    const fence = new Fence(env);
    for (const name of names) if (name !== 'waits') (env[name] as () => void)();
    expect(called).toHaveLength(names.length - 1);
    called.length = 0;
    fence.close(guard);
    for (const name of names) {
      const call = env[name] as () => unknown;
      if (name === '__syscall_socket') expect(call()).toBe(-63);
      else if (name === 'fd_pwrite') expect(call()).toBe(63);
      else expect(call).toThrow(FencedError);
    }
    expect(called).toEqual([]);
  });

  it('ends what is late at its next call', () => {
    const env: Record<string, unknown> = { emscripten_get_now: () => 1 };
    new Fence(env).close({ ...guard, deadlineMs: 0 });
    expect(env.emscripten_get_now as () => unknown).toThrow(LateError);
  });
});
