import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { LogLine } from '@millrace/engine';
import type { ConnectorJob, ConnectorOutcome } from '../connectors/protocol.ts';
import type { ContentJob, ContentOutcome } from '../contents/protocol.ts';
import type { DocumentJob, DocumentOutcome } from '../documents/protocol.ts';
import type { SchemaJob, SchemaOutcome } from '../schema/protocol.ts';
import { memoryFailure, slowStartFailure, timeoutFailure } from './messages.ts';
import type { CodeJob, CodeOutcome, Job, JobOutcome, ThreadMessage } from './protocol.ts';
import type { PythonImage } from './python/interpreter.ts';

// After 1,000 calls of a function from WebAssembly, V8 replaces the generic code for such calls, and frees code that nothing uses any more. If a module of another
// thread goes at that moment, the process dies (docs/adr/0123-generic-calls-from-webassembly.md). The flag holds for all threads, from the next instance on.
setFlagsFromString('--wasm-wrapper-tiering-budget=2147483647');

/** The outcome of a run, with its log. */
export interface PoolAnswer<Outcome = JobOutcome> {
  readonly outcome: Outcome | { readonly kind: 'aborted' };
  readonly log: readonly LogLine[];
}

/** How long after its time limit a run that doesn't stop by itself is killed with its thread. */
const GRACE_MS = 500;
/** How long Python may take to start, which isn't part of a run's time. */
const PYTHON_START_MS = 120_000;
/** A thread whose run took more memory than this is replaced, to release the memory. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
/** An idle thread is ended after this time, to release the garbage on its own heap. */
const IDLE_MS = 30_000;
/** V8's own heap in a thread: the text of inputs and results; the code's memory is not part of it. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 8 };

interface Run {
  readonly owner: number;
  readonly job: Job;
  readonly log: LogLine[];
  readonly end: (outcome: PoolAnswer['outcome']) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Threads that run code, convert documents, check values and work on files, started on demand. Runs that find no free thread wait in a queue per owner, and the
 * owners take turns; a run's time limit starts when it has a thread.
 */
export class CodePool {
  readonly #maxThreads: number;
  readonly #idleMs: number;
  readonly #niceness: number;
  readonly #maxPerOwner: number;
  readonly #threads = new Set<CodeThread>();
  /** Waiting runs by owner; the owner whose turn is next comes first. */
  readonly #waiting = new Map<number, Run[]>();
  /** What Python starts from, once a thread has made it. */
  #image: PythonImage | undefined;
  #isClosed = false;

  /**
   * @param niceness that is added to that of its threads: how far they stand back for the main thread while there are fewer processors than work
   * @param maxPerOwner concurrent runs of one owner; leaves threads to others while runs take long
   */
  constructor(maxThreads: number, idleMs = IDLE_MS, niceness = 0, maxPerOwner = maxThreads) {
    this.#maxThreads = maxThreads;
    this.#idleMs = idleMs;
    this.#niceness = niceness;
    this.#maxPerOwner = maxPerOwner;
  }

  /** Number of threads, including those being ended. */
  get threadCount(): number {
    return this.#threads.size;
  }

  /** Number of runs waiting for a thread. */
  get waitingCount(): number {
    return [...this.#waiting.values()].reduce((sum, runs) => sum + runs.length, 0);
  }

  /**
   * @param owner whose queue it joins
   * @param signal takes the run out of the queue, or kills its thread
   */
  run(job: CodeJob, owner: number, signal: AbortSignal): Promise<PoolAnswer<CodeOutcome>>;
  run(job: DocumentJob, owner: number, signal: AbortSignal): Promise<PoolAnswer<DocumentOutcome>>;
  run(job: SchemaJob, owner: number, signal: AbortSignal): Promise<PoolAnswer<SchemaOutcome>>;
  run(job: ContentJob, owner: number, signal: AbortSignal): Promise<PoolAnswer<ContentOutcome>>;
  run(job: ConnectorJob, owner: number, signal: AbortSignal): Promise<PoolAnswer<ConnectorOutcome>>;
  run(job: Job, owner: number, signal: AbortSignal): Promise<PoolAnswer> {
    return new Promise((resolve, reject) => {
      const log: LogLine[] = [];
      const onAbort = (): void => this.#abort(run);
      const settle = (): void => signal.removeEventListener('abort', onAbort);
      const run: Run = {
        owner,
        job,
        log,
        end: (outcome) => {
          settle();
          resolve({ outcome, log });
        },
        fail: (error) => {
          settle();
          reject(error);
        },
      };
      if (this.#isClosed || signal.aborted) return run.end({ kind: 'aborted' });
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), run]);
      this.#dispatch();
    });
  }

  /** Ends every run as aborted, and every thread. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const runs of this.#waiting.values()) for (const run of runs) run.end({ kind: 'aborted' });
    this.#waiting.clear();
    await Promise.all([...this.#threads].map((thread) => thread.kill({ kind: 'aborted' })));
  }

  #abort(run: Run): void {
    const runs = this.#waiting.get(run.owner) ?? [];
    const others = runs.filter((each) => each !== run);
    if (others.length === runs.length) {
      for (const thread of this.#threads) if (thread.run === run) void thread.kill({ kind: 'aborted' });
      return;
    }
    if (others.length === 0) this.#waiting.delete(run.owner);
    else this.#waiting.set(run.owner, others);
    run.end({ kind: 'aborted' });
  }

  #dispatch(): void {
    for (let owner = this.#nextOwner(); owner !== undefined; owner = this.#nextOwner()) {
      const thread = this.#freeThread();
      if (thread === null) return;
      const run = this.#next(owner);
      if (run !== null) thread.take(run);
    }
  }

  #freeThread(): CodeThread | null {
    for (const thread of this.#threads) if (thread.isFree) return thread;
    if (this.#isClosed || this.#threads.size >= this.#maxThreads) return null;
    const thread = new CodeThread(
      {
        idleMs: this.#idleMs,
        niceness: this.#niceness,
        image: () => this.#image,
        onImage: (image) => {
          this.#image ??= image;
        },
      },
      () => this.#dispatch(),
      () => {
        this.#threads.delete(thread);
        this.#dispatch();
      },
    );
    this.#threads.add(thread);
    return thread;
  }

  /** Whose turn it is, of those who may have another thread. */
  #nextOwner(): number | undefined {
    const running = new Map<number, number>();
    for (const { run } of this.#threads) {
      if (run !== null) running.set(run.owner, (running.get(run.owner) ?? 0) + 1);
    }
    for (const owner of this.#waiting.keys()) {
      if ((running.get(owner) ?? 0) < this.#maxPerOwner) return owner;
    }
    return undefined;
  }

  #next(owner: number): Run | null {
    const [run, ...others] = this.#waiting.get(owner) ?? [];
    this.#waiting.delete(owner);
    if (others.length > 0) this.#waiting.set(owner, others);
    return run ?? null;
  }
}

interface ThreadOptions {
  readonly idleMs: number;
  readonly niceness: number;
  readonly image: () => PythonImage | undefined;
  readonly onImage: (image: PythonImage) => void;
}

/** One worker thread and its current run. */
class CodeThread {
  readonly #worker: Worker;
  readonly #image: ThreadOptions['image'];
  readonly #onImage: ThreadOptions['onImage'];
  readonly #idleMs: number;
  readonly #onFree: () => void;
  #run: Run | null = null;
  #isReady = false;
  #isDead = false;
  /** For the run, or for the idle time between two runs. */
  #timer: NodeJS.Timeout | null = null;

  constructor({ idleMs, niceness, image, onImage }: ThreadOptions, onFree: () => void, onGone: () => void) {
    this.#idleMs = idleMs;
    this.#image = image;
    this.#onImage = onImage;
    this.#onFree = onFree;
    this.#worker = new Worker(new URL('thread.ts', import.meta.url), {
      name: 'code',
      env: {},
      execArgv: [],
      argv: [],
      stdin: false,
      workerData: { niceness },
      resourceLimits: RESOURCE_LIMITS,
    });
    this.#worker.on('message', (message: ThreadMessage) => this.#hear(message));
    this.#worker.on('error', (error) => this.#lose(error));
    this.#worker.on('exit', () => {
      this.#lose(new Error('the thread of the code sandbox ended by itself'));
      onGone();
    });
    this.#worker.unref();
  }

  get run(): Run | null {
    return this.#run;
  }

  get isFree(): boolean {
    return this.#run === null && !this.#isDead;
  }

  take(run: Run): void {
    this.#run = run;
    this.#stopTimer();
    this.#worker.ref();
    if (this.#isReady) this.#begin(run);
  }

  /** Ends the thread and its run. */
  async kill(outcome: PoolAnswer['outcome']): Promise<void> {
    this.#isDead = true;
    this.#release()?.end(outcome);
    await this.#worker.terminate();
  }

  #begin(run: Run): void {
    const { job } = run;
    if (job.kind === 'code' && job.language === 'python') {
      const image = this.#image();
      this.#worker.postMessage(image === undefined ? job : { ...job, image });
      this.#timer = setTimeout(() => void this.kill(slowStartFailure()), PYTHON_START_MS);
      return;
    }
    this.#worker.postMessage(job, job.kind === 'contents' ? [job.port] : []);
    this.#startTimer(run);
  }

  #startTimer(run: Run): void {
    this.#stopTimer();
    this.#timer = setTimeout(() => this.#onDeadline(run), run.job.timeoutMs + GRACE_MS);
  }

  /** If this process was busy, its timer may fire before a result that arrived in time. */
  #onDeadline(run: Run): void {
    setImmediate(() => {
      if (this.#run !== run) return;
      void this.kill(timeoutFailure(run.job));
    });
  }

  #hear(message: ThreadMessage): void {
    if (message.kind === 'ready') {
      this.#isReady = true;
      if (this.#run !== null) this.#begin(this.#run);
    } else if (message.kind === 'log') {
      this.#run?.log.push(message.line);
    } else if (message.kind === 'image') {
      this.#onImage(message.image);
    } else if (message.kind === 'start') {
      if (this.#run !== null) this.#startTimer(this.#run);
    } else {
      this.#release()?.end(message.outcome);
      if (message.usedBytes > MAX_KEPT_BYTES) void this.kill({ kind: 'aborted' });
      else this.#rest();
    }
  }

  #rest(): void {
    this.#timer = setTimeout(() => void this.kill({ kind: 'aborted' }), this.#idleMs).unref();
    this.#onFree();
  }

  #lose(error: unknown): void {
    this.#isDead = true;
    const run = this.#release();
    if (run === null) return;
    if (isOutOfMemory(error)) run.end(memoryFailure(run.job));
    else run.fail(error);
  }

  #release(): Run | null {
    const run = this.#run;
    this.#run = null;
    this.#stopTimer();
    this.#worker.unref();
    return run;
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

/** The thread's V8 heap is full: the input or output text is too large. */
function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
