/**
 * What the interpreter may still ask of JavaScript while an author's code runs. Pyodide gives Python the whole of JavaScript, and hiding that
 * inside the interpreter holds nobody: whoever corrupts its memory calls what they like. But WebAssembly reaches the outside only
 * through its imports. So each of them is wrapped, and once the fence is closed only those listed here do anything.
 */
export type HostFunction = ((...args: readonly unknown[]) => unknown) & { sig?: string; stub?: boolean };

/** Imports that read the interpreter's own files, which are in memory: its standard library and the job. */
const READING = [
  '__syscall_faccessat',
  '__syscall_fstat64',
  '__syscall_getcwd',
  '__syscall_getdents64',
  '__syscall_lstat64',
  '__syscall_newfstatat',
  '__syscall_readlinkat',
  '__syscall_stat64',
  'fd_close',
  'fd_fdstat_get',
  'fd_pread',
  'fd_seek',
];
/** Clocks and random numbers, and a call of a function of WebAssembly by its number. */
const HARMLESS = [
  '_PyEM_TrampolineCall_JS',
  'clock_res_get',
  'clock_time_get',
  'emscripten_date_now',
  'emscripten_get_now',
  'random_get',
];

/** WASI's numbers of errors. */
const EACCES = 2;
const EBADF = 8;
const EPERM = 63;
/** There is no such name. */
const EAI_FAIL = -4;
/** Places in C's `struct tm`. */
const TM_ISDST = 32;
const TM_GMTOFF = 36;
const OPEN_MODES = 0o3;
const OPEN_CREATES = 0o1100;
const READABLE = /^\/(?:lib|job)(?:\/|$)/;

/** Code asked for something outside. */
export class FencedError extends Error {
  readonly wanted: string;
  constructor(wanted: string) {
    super(`${wanted} is outside the fence`);
    this.wanted = wanted;
  }
}

/** Code ran into its time limit. */
export class LateError extends Error {}

/** Emscripten's files, as far as they are needed here. */
export interface Files {
  getStream(fd: number): { readonly path: string; readonly node: { readonly mode: number } } | undefined;
  isFile(mode: number): boolean;
  isDir(mode: number): boolean;
  close(stream: unknown): void;
  mkdirTree(path: string): void;
  writeFile(path: string, text: string): void;
}

/** What a closed fence needs. */
export interface Guard {
  readonly files: Files;
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly deadlineMs: number;
  /** Of the interpreter's memory. */
  readonly maxBytes: number;
  /** Takes what is written to a file that was open from the start. @returns false if there is no such file */
  readonly onWrite: (fd: number, bytes: Uint8Array) => boolean;
}

/** Wraps the imports of one instance. Open until it is closed, and never opened again. */
export class Fence {
  #guard: Guard | null = null;
  readonly #env: Record<string, unknown>;

  /** @param env changed in place: Emscripten also looks functions up in it when it fills WebAssembly's table of functions */
  constructor(env: Record<string, unknown>) {
    this.#env = { ...env };
    for (const [name, original] of Object.entries(this.#env)) {
      if (typeof original !== 'function') {
        // What can wait for a promise: never called here.
        env[name] = () => this.#refuse(name);
        continue;
      }
      const own = original as HostFunction;
      const closed = this.#closed(name, own);
      const wrapped: HostFunction = (...args) => {
        if (this.#guard === null) return own(...args);
        this.#checkTime(this.#guard);
        return closed(this.#guard, args);
      };
      if (own.sig !== undefined) wrapped.sig = own.sig;
      if (own.stub !== undefined) wrapped.stub = own.stub;
      env[name] = wrapped;
    }
  }

  close(guard: Guard): void {
    this.#guard = guard;
  }

  #checkTime({ deadlineMs }: Guard): void {
    if (performance.now() > deadlineMs) throw new LateError();
  }

  #refuse(name: string): never {
    throw new FencedError(name);
  }

  #localTime({ memory }: Guard, args: readonly unknown[]): void {
    (this.#env._gmtime_js as HostFunction)(...args);
    const time = new DataView(memory.buffer, Number(args[1]) >>> 0, 40);
    time.setInt32(TM_ISDST, 0, true);
    time.setInt32(TM_GMTOFF, 0, true);
  }

  /** What an import does behind the closed fence. */
  #closed(name: string, own: HostFunction): (guard: Guard, args: readonly unknown[]) => unknown {
    if (READING.includes(name) || HARMLESS.includes(name)) return (_guard, args) => own(...args);
    switch (name) {
      // Local time is UTC, wherever the service runs.
      case '_localtime_js':
        return (guard, args) => this.#localTime(guard, args);
      case '_gmtime_js':
      case '_timegm_js':
        return (_guard, args) => own(...args);
      case '_mktime_js':
        return (_guard, args) => (this.#env._timegm_js as HostFunction)(...args);
      case '__syscall_openat':
        return (guard, args) => open(own, guard, args);
      case 'fd_read':
        // There is nothing to read from the standard input.
        return (_guard, args) => (Number(args[0]) <= 2 ? EBADF : own(...args));
      case 'fd_write':
        return (guard, args) => write(guard, args as readonly number[]);
      case 'emscripten_resize_heap':
        return ({ maxBytes }, args) => (Number(args[0]) >>> 0 > maxBytes ? 0 : own(...args));
      case 'emscripten_get_heap_max':
        return ({ maxBytes }) => maxBytes;
      // Asked again and again by running code, so that it can be interrupted.
      case '_Py_CheckEmscriptenSignals_Helper':
      case 'can_run_sync_js':
        return () => 0;
      case 'getaddrinfo':
        return () => EAI_FAIL;
      default:
        if (name.startsWith('__syscall_')) return () => -EPERM;
        if (name.startsWith('fd_')) return () => EPERM;
        return () => this.#refuse(name);
    }
  }
}

/** Opens for reading what is there for it. */
function open(own: HostFunction, { files }: Guard, args: readonly unknown[]): unknown {
  const flags = Number(args[2]);
  if ((flags & OPEN_MODES) !== 0 || (flags & OPEN_CREATES) !== 0) return -EPERM;
  const fd = own(...args) as number;
  if (fd < 0) return fd;
  const stream = files.getStream(fd);
  const mode = stream?.node.mode ?? 0;
  if (stream !== undefined && (files.isDir(mode) || (files.isFile(mode) && READABLE.test(stream.path)))) {
    return fd;
  }
  files.close(stream);
  return -EACCES;
}

/** Gathers the pieces of a write (WASI, `fd_write`). */
function write({ memory, onWrite }: Guard, [fd = 0, list = 0, count = 0, written = 0]: readonly number[]) {
  const view = new DataView(memory.buffer);
  let total = 0;
  for (let at = 0; at < count; at += 1) {
    const entry = (list >>> 0) + at * 8;
    const start = view.getUint32(entry, true);
    const length = view.getUint32(entry + 4, true);
    if (length === 0) continue;
    if (!onWrite(fd, new Uint8Array(memory.buffer, start, length))) return EBADF;
    total += length;
  }
  view.setUint32(written >>> 0, total, true);
  return 0;
}
