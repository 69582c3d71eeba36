import { readFile } from 'node:fs/promises';
import type { LogLine } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  RELEASE_SYNC,
} from 'quickjs-emscripten';
import { createHostLibrary } from './host-library.ts';
import { LogBook } from './log-book.ts';
import { memoryMessage, messageOf, timeoutMessage } from './messages.ts';
import type { CodeFailure, CodeJob, CodeOutcome } from './protocol.ts';
import * as wasm from './wasm.ts';

/** Name of the author's code in stack traces. */
const FILE = 'code.js';
/** Calls nested more deeply than this are the author's mistake. */
const MAX_STACK_BYTES = 256 * 1024;
const PAGE_BYTES = 65_536;
/** What the WebAssembly module takes before it runs anything: stack, data and an initial heap. */
const BASE_BYTES = 16 * 1024 * 1024;
/** Room to report the error when the code's own memory is used up. */
const SPARE_BYTES = 2 * 1024 * 1024;
/** QuickJS's message for it. */
const OUT_OF_MEMORY = 'InternalError: out of memory';
/** Promise reactions run between two checks of the time. */
const JOBS_PER_LOOK = 1_000;

const harnessSource = readFile(new URL('harness.js', import.meta.url), 'utf8');
const librarySources = Promise.all(
  [new URL('library.js', import.meta.url), new URL('library-intl.js', import.meta.url)].map((file) =>
    readFile(file, 'utf8'),
  ),
);
const wasmModule = compileWasm();

async function compileWasm(): Promise<wasm.WasmModule> {
  const file = import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
  return wasm.compile(await readFile(new URL(file)));
}

/** Resolves when the first run can start without loading anything. */
export async function loadSandbox(): Promise<void> {
  await Promise.all([harnessSource, librarySources, wasmModule]);
}

/** Ends a run for a reason that is already known. */
class RunFailure extends ExplainedError {
  readonly code: CodeFailure;
  constructor(code: CodeFailure, explanation: Message) {
    super(explanation);
    this.code = code;
  }
}

/**
 * Runs code in its own QuickJS: a WebAssembly instance created for this run and dropped after it, so that nothing survives
 * and an abort can't leave anything broken behind. Blocks its thread while it runs. Native loops inside (a regular
 * expression, a sort) may exceed the time limit: whoever started the thread must be ready to kill it.
 * @param onLog called with each console line as it is written
 */
export async function runInSandbox(
  job: CodeJob,
  onLog: (line: LogLine) => void,
): Promise<{ readonly outcome: CodeOutcome; readonly usedBytes: number }> {
  const memory = new wasm.Memory({
    initial: BASE_BYTES / PAGE_BYTES,
    maximum: Math.ceil((BASE_BYTES + SPARE_BYTES + job.memoryBytes * 1.25) / PAGE_BYTES),
  });
  const variant = newVariant(RELEASE_SYNC, {
    wasmModule: await wasmModule,
    wasmMemory: memory,
    // An abort's output is of no use to anyone.
    emscriptenModule: { print() {}, printErr() {} } as object,
  });
  const quickjs = await newQuickJSWASMModuleFromVariant(variant);
  const run = new SandboxRun(quickjs.newRuntime(), memory, job, new LogBook(onLog));
  const outcome = run.end(await harnessSource, await librarySources);
  const texts = job.input.length + (outcome.kind === 'value' ? outcome.text.length : 0);
  return { outcome, usedBytes: memory.buffer.byteLength + 2 * texts };
}

class SandboxRun {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #memory: { readonly buffer: ArrayBuffer };
  readonly #job: CodeJob;
  readonly #log: LogBook;
  readonly #deadlineMs: number;
  readonly #pieces: string[] = [];
  #bytes = 0;
  #isInterrupted = false;
  #isTooLarge = false;
  #isCutShort = false;

  constructor(runtime: QuickJSRuntime, memory: { readonly buffer: ArrayBuffer }, job: CodeJob, log: LogBook) {
    this.#runtime = runtime;
    this.#memory = memory;
    this.#job = job;
    this.#log = log;
    this.#deadlineMs = performance.now() + job.timeoutMs;
    runtime.setMemoryLimit(job.memoryBytes);
    runtime.setMaxStackSize(MAX_STACK_BYTES);
    runtime.setInterruptHandler(() => {
      this.#isInterrupted ||= performance.now() > this.#deadlineMs;
      return this.#isInterrupted;
    });
    this.#context = runtime.newContext();
  }

  /** Runs everything. The sandbox's memory is not freed piece by piece: the whole instance is dropped. */
  end(harnessSource: string, librarySources: readonly string[]): CodeOutcome {
    try {
      this.#run(harnessSource, librarySources);
      return { kind: 'value', text: this.#pieces.join('') };
    } catch (error) {
      const { code, explanation } = error instanceof RunFailure ? error : this.#judgeHostError(error);
      return { kind: 'failure', code, message: explanation };
    }
  }

  #run(harnessSource: string, librarySources: readonly string[]): void {
    const harness = this.#startHarness(harnessSource, librarySources);
    const input = this.#call(harness, 'readInput', this.#job.input, JSON.stringify(this.#job.exact));
    const body = this.#compile(harness);
    const answer = this.#context.callFunction(body, this.#context.undefined, input);
    const promise = answer.error === undefined ? answer.value : this.#fail(harness, answer.error);
    this.#call(harness, 'writeResult', this.#settle(harness, promise));
  }

  #startHarness(source: string, librarySources: readonly string[]): QuickJSHandle {
    const context = this.#context;
    const made = context.unwrapResult(context.evalCode(source, 'harness.js', { strict: true }));
    const putLog = context.newFunction('putLog', (level, json) => {
      const text = textIn(context.getString(json));
      if (text === null) return context.true;
      return this.#log.write(context.getString(level) as LogLine['level'], text)
        ? context.true
        : context.false;
    });
    const putResult = context.newFunction('putResult', (piece, length) =>
      this.#put(piece, context.getNumber(length)),
    );
    const loadLibrary = context.newFunction('loadLibrary', () => this.#startLibrary(librarySources, harness));
    const harness: QuickJSHandle = context.unwrapResult(
      context.callFunction(made, context.undefined, putLog, putResult, loadLibrary),
    );
    return harness;
  }

  /** Does so once: from then on the globals are the library's. */
  #startLibrary([source = '', languagesSource = '']: readonly string[], harness: QuickJSHandle): void {
    const context = this.#context;
    const evaluate = (text: string, name: string): QuickJSHandle =>
      context.unwrapResult(context.evalCode(text, name, { strict: true }));
    const made = evaluate(source, 'library.js');
    const languages = evaluate(languagesSource, 'library-intl.js');
    const library = createHostLibrary();
    const host = context.newFunction('host', (call) => {
      const text = context.getString(call);
      if (text === '') throw new Error('out of memory');
      return context.newString(library(text));
    });
    const digitsOf = context.getProp(harness, 'exactDigits');
    context.unwrapResult(context.callFunction(made, context.undefined, host, digitsOf, languages));
  }

  /** The author's lines start at line 2, so that columns are right on each of them. */
  #compile(harness: QuickJSHandle): QuickJSHandle {
    const { source } = this.#job;
    const made = this.#context.evalCode(`(async function (input) {\n${source}\n})`, FILE, { strict: true });
    if (made.error !== undefined) return this.#fail(harness, made.error);
    if (this.#context.typeof(made.value) === 'function') return made.value;
    throw new RunFailure('code_error', message('ports.code_braces'));
  }

  /** Runs promise jobs until none is left. */
  #settle(harness: QuickJSHandle, promise: QuickJSHandle): QuickJSHandle {
    while (this.#runtime.hasPendingJob()) {
      const { error } = this.#runtime.executePendingJobs(JOBS_PER_LOOK);
      this.#isInterrupted ||= performance.now() > this.#deadlineMs;
      if (this.#isInterrupted) throw this.#timeout();
      if (error !== undefined) this.#fail(harness, error);
    }
    const state = this.#context.getPromiseState(promise);
    if (state.type === 'fulfilled') return state.value;
    if (state.type === 'rejected') return this.#fail(harness, state.error);
    // A reaction that can't allocate memory is lost, and with it the promise it would have settled. It doesn't show with memory limits
    // that fit in the instance's initial heap: there it stays an error of the code.
    if (this.#memory.buffer.byteLength > BASE_BYTES && this.#isMemoryUsedUp()) throw this.#outOfMemory();
    throw new RunFailure('code_error', message('ports.code_waits'));
  }

  /** Calls a harness function with strings or values of the sandbox. */
  #call(harness: QuickJSHandle, name: string, ...args: readonly (string | QuickJSHandle)[]): QuickJSHandle {
    const context = this.#context;
    const handles = args.map((arg) => (typeof arg === 'string' ? context.newString(arg) : arg));
    const result = context.callFunction(context.getProp(harness, name), context.undefined, ...handles);
    return result.error === undefined ? result.value : this.#fail(harness, result.error);
  }

  /** A piece has at least as many bytes as characters: if it is too large, it isn't even copied. */
  #put(handle: QuickJSHandle, length: number): void {
    this.#isTooLarge ||= this.#bytes + length > this.#job.maxOutputBytes;
    if (this.#isTooLarge) throw new Error('too large');
    const piece = this.#context.getString(handle);
    this.#isCutShort = piece.length !== length;
    if (this.#isCutShort) throw new Error('out of memory');
    this.#bytes += Buffer.byteLength(piece);
    this.#isTooLarge = this.#bytes > this.#job.maxOutputBytes;
    if (this.#isTooLarge) throw new Error('too large');
    this.#pieces.push(piece);
  }

  /** Ends the run for what was thrown inside. */
  #fail(harness: QuickJSHandle, thrown: QuickJSHandle): never {
    if (this.#isInterrupted) throw this.#timeout();
    if (this.#isTooLarge) throw this.#tooLarge();
    if (this.#isCutShort) throw this.#outOfMemory();
    this.#runtime.setMemoryLimit(this.#job.memoryBytes + SPARE_BYTES);
    // If there is no memory for an error, null is thrown; and then there may be none for its description.
    const isNull = this.#context.eq(thrown, this.#context.null);
    const description = this.#textFrom(harness, 'describe', thrown);
    const stack = this.#textFrom(harness, 'stackOf', thrown);
    if (this.#isInterrupted) throw this.#timeout();
    if (description === OUT_OF_MEMORY || ((isNull || description === null) && this.#isMemoryUsedUp()))
      throw this.#outOfMemory();
    throw new RunFailure('code_error', messageOf(description, stack, this.#job.source, FILE));
  }

  /** Memory freed while an error unwinds the stack no longer shows as used, but the instance's memory never shrinks. */
  #isMemoryUsedUp(): boolean {
    return this.#memory.buffer.byteLength > this.#job.memoryBytes * 0.8;
  }

  /** The harness's text for a thrown value; null if inspecting it fails as well. */
  #textFrom(harness: QuickJSHandle, name: string, thrown: QuickJSHandle): string | null {
    const context = this.#context;
    const result = context.callFunction(context.getProp(harness, name), context.undefined, thrown);
    return result.error === undefined ? textIn(context.getString(result.value)) : null;
  }

  /** An error of WebAssembly itself: out of memory or stack. The instance is unusable from here on. */
  #judgeHostError(error: unknown): RunFailure {
    if (this.#isInterrupted) return this.#timeout();
    if (error instanceof RangeError && /call stack/i.test(error.message)) {
      return new RunFailure('code_error', message('ports.code_too_deep'));
    }
    if (error instanceof RangeError || error instanceof wasm.RuntimeError) return this.#outOfMemory();
    throw error;
  }

  #timeout(): RunFailure {
    return new RunFailure('code_timeout', timeoutMessage(this.#job.timeoutMs));
  }

  #outOfMemory(): RunFailure {
    return new RunFailure('code_memory', memoryMessage(this.#job.memoryBytes));
  }

  #tooLarge(): RunFailure {
    const max = this.#job.maxOutputBytes;
    return new RunFailure('code_output_too_large', message('ports.code_result_too_large', { max }));
  }
}

/** The string in JSON text from the sandbox; null if there was no memory to copy it. */
function textIn(json: string): string | null {
  return json === '' ? null : (JSON.parse(json) as string);
}
