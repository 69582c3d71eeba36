import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PyodideAPI } from 'pyodide';
import * as wasm from '../wasm.ts';
import { Fence, type Files } from './fence.ts';

/** An interpreter that has started and loaded the harness; another one starts from it in a fraction of the time. */
export interface PythonImage {
  /** Shared by threads: the compiled code, and the memory. */
  readonly module: wasm.WasmModule;
  readonly memory: Uint8Array;
}

/** An interpreter, good for one run. */
export interface Interpreter {
  readonly fence: Fence;
  readonly files: Files;
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Runs statements. Any error of the statements is printed; what leaves the fence is thrown. */
  readonly execute: (statements: string) => void;
}

/** The optional package isn't installed. */
export class PythonMissingError extends Error {}

/** Pyodide with what is used here and isn't in its declarations. */
type Pyodide = PyodideAPI & {
  readonly FS: Files;
  readonly _module: {
    readonly HEAP8: Int8Array;
    readonly _Py_EMSCRIPTEN_SIGNAL_HANDLING: number;
    readonly _PyRun_SimpleString: (text: number) => number;
    readonly stringToNewUTF8: (text: string) => number;
  };

  makeMemorySnapshot(): Uint8Array;
};

interface Settings {
  instantiateWasm?: unknown;
}
type Factory = (settings: Settings) => Promise<unknown>;

interface Package {
  readonly folder: string;
  readonly loadPyodide: (options: object) => Promise<Pyodide>;
  readonly factory: Factory;
}

const HARNESS_FOLDER = '/lib/millrace';
const START = `import sys\nsys.path.insert(0, '${HARNESS_FOLDER}')\nimport millrace_harness\n`;
const OPTIONS = { jsglobals: {}, _sysExecutable: 'python', env: { HOME: '/' }, stdin: () => null };

let installed: Promise<Package> | null = null;

async function findPackage(): Promise<Package> {
  let folder: string;
  try {
    folder = dirname(createRequire(import.meta.url).resolve('pyodide/package.json'));
  } catch (error) {
    throw new PythonMissingError('pyodide is not installed', { cause: error });
  }
  const { loadPyodide } = await import('pyodide');
  const glue = (await import(pathToFileURL(join(folder, 'pyodide.asm.mjs')).href)) as { default: Factory };
  return { folder, loadPyodide: loadPyodide as Package['loadPyodide'], factory: glue.default };
}

function thePackage(): Promise<Package> {
  installed ??= findPackage();
  return installed;
}

/**
 * Starts an interpreter from the beginning, which takes seconds, and keeps what it has come to.
 * @throws PythonMissingError
 */
export async function makeImage(): Promise<PythonImage> {
  const { folder } = await thePackage();
  const module = await wasm.compile(await readFile(join(folder, 'pyodide.asm.wasm')));
  const harness = await readFile(new URL('harness.py', import.meta.url), 'utf8');
  const { pyodide } = await start(module, { _makeSnapshot: true });
  pyodide.FS.mkdirTree(HARNESS_FOLDER);
  pyodide.FS.writeFile(`${HARNESS_FOLDER}/millrace_harness.py`, harness);
  pyodide.runPython(START);
  const snapshot = pyodide.makeMemorySnapshot();
  const memory = new Uint8Array(new SharedArrayBuffer(snapshot.byteLength));
  memory.set(snapshot);
  return { module, memory };
}

/** Starts an interpreter from an image. */
export async function startInterpreter(image: PythonImage): Promise<Interpreter> {
  const { pyodide, fence, memory } = await start(image.module, { _loadSnapshot: image.memory });
  const module = pyodide._module;
  module.HEAP8[module._Py_EMSCRIPTEN_SIGNAL_HANDLING] = 1;
  return {
    fence,
    files: pyodide.FS,
    memory,
    execute: (statements) => void module._PyRun_SimpleString(module.stringToNewUTF8(statements)),
  };
}

async function start(
  module: wasm.WasmModule,
  options: object,
): Promise<{ pyodide: Pyodide; fence: Fence; memory: { readonly buffer: ArrayBuffer } }> {
  const { loadPyodide, factory } = await thePackage();
  let fence: Fence | undefined;
  let memory: { readonly buffer: ArrayBuffer } | undefined;
  const instantiate = (
    imports: { readonly env: Record<string, unknown> },
    receive: (instance: wasm.WasmInstance, module: wasm.WasmModule) => void,
  ): object => {
    // Stands for an error of JavaScript inside the interpreter.
    const marker = Symbol('error');
    imports.env.Jsv_GetError_import = () => marker;
    imports.env.JsvError_Check = (value: unknown) => value === marker;
    fence = new Fence(imports.env);
    void wasm.instantiate(module, imports).then((instance) => {
      memory = instance.exports.memory as { readonly buffer: ArrayBuffer };
      receive(instance, module);
    });
    return {};
  };
  const pyodide = await loadPyodide({
    ...OPTIONS,
    ...options,
    createPyodideModule: (settings: Settings) =>
      factory(Object.assign(settings, { instantiateWasm: instantiate })),
  });
  if (fence === undefined || memory === undefined) throw new Error('Pyodide did not ask for its imports');
  return { pyodide, fence, memory };
}
