import type { LogLine } from '@millrace/engine';
import { message } from '@millrace/messages';
import { LogBook } from '../log-book.ts';
import { memoryMessage, placedMessage, timeoutMessage } from '../messages.ts';
import type { CodeJob, CodeOutcome } from '../protocol.ts';
import { FencedError, type Guard, LateError } from './fence.ts';
import { makeImage, type PythonImage, PythonMissingError, startInterpreter } from './interpreter.ts';

const RESULT_FD = 3;
const MAX_LINE = 8192;
const MAX_DEPTH = 1000;
const RUN = 'import millrace_harness\nmillrace_harness.run()\n';

export interface PythonEvents {
  readonly onLog: (line: LogLine) => void;
  /** An image was made, which others can start from. */
  readonly onImage: (image: PythonImage) => void;
  /** The code itself begins: from here on its time counts. */
  readonly onStart: () => void;
}

class TooLargeError extends Error {}

let image: PythonImage | null = null;

/**
 * Runs Python in an interpreter of its own, which starts from an image and is dropped afterwards. Blocks its thread while it runs. A loop
 * inside the interpreter's C code may exceed the time limit: whoever started the thread must be ready to kill it.
 */
export async function runPython(
  job: CodeJob,
  events: PythonEvents,
): Promise<{ readonly outcome: CodeOutcome; readonly usedBytes: number }> {
  image = job.image ?? image;
  if (image === null) {
    try {
      image = await makeImage();
    } catch (error) {
      if (!(error instanceof PythonMissingError)) throw error;
      return { outcome: failure('code_unavailable', message('ports.python_missing')), usedBytes: 0 };
    }
    events.onImage(image);
  }
  const interpreter = await startInterpreter(image);
  const { files, memory } = interpreter;
  files.mkdirTree('/job');
  files.writeFile('/job/code.py', job.source);
  files.writeFile('/job/input.json', job.input);
  files.writeFile('/job/exact.json', JSON.stringify(job.exact));
  const output = new Output(job.maxOutputBytes, new LogBook(events.onLog));
  events.onStart();
  const guard: Guard = {
    files,
    memory,
    deadlineMs: performance.now() + job.timeoutMs,
    maxBytes: memory.buffer.byteLength + job.memoryBytes,
    onWrite: (fd, bytes) => output.take(fd, bytes),
  };
  const outcome = end(job, output, () => {
    interpreter.fence.close(guard);
    interpreter.execute(RUN);
  });
  const texts = job.input.length + (outcome.kind === 'value' ? outcome.text.length : 0);
  return { outcome, usedBytes: memory.buffer.byteLength + 2 * texts };
}

function end(job: CodeJob, output: Output, run: () => void): CodeOutcome {
  try {
    run();
  } catch (error) {
    output.finish();
    return thrown(job, error);
  }
  output.finish();
  return judge(job, output.result());
}

/** Something left the interpreter, which is unusable from here on. */
function thrown(job: CodeJob, error: unknown): CodeOutcome {
  if (error instanceof LateError) return failure('code_timeout', timeoutMessage(job.timeoutMs));
  if (error instanceof TooLargeError) {
    return failure(
      'code_output_too_large',
      message('ports.code_result_too_large', { max: job.maxOutputBytes }),
    );
  }
  if (error instanceof FencedError) {
    return failure('code_error', message('ports.python_fenced', { wanted: error.wanted }));
  }
  if (error instanceof RangeError && /call stack/i.test(error.message)) {
    return failure('code_error', message('ports.code_too_deep'));
  }
  return failure('code_error', message('ports.python_crashed'));
}

/** What the harness reported; the author's code shares the interpreter with it, so nothing here is taken on trust. */
function judge(job: CodeJob, text: string): CodeOutcome {
  const rest = text.slice(1);
  switch (text[0]) {
    case 'v':
      return isSound(rest)
        ? { kind: 'value', text: rest }
        : failure('code_error', message('ports.python_result'));
    case 'm':
      return failure('code_memory', memoryMessage(job.memoryBytes));
    case 'e':
      return failed(rest);
    default:
      return failure('code_error', message('ports.python_crashed'));
  }
}

function failed(text: string): CodeOutcome {
  try {
    const said = JSON.parse(text) as { text?: unknown; line?: unknown; column?: unknown };
    const column = typeof said.column === 'number' ? said.column : 1;
    const place = typeof said.line === 'number' ? { line: said.line, column } : null;
    return failure('code_error', placedMessage(String(said.text), place));
  } catch {
    return failure('code_error', message('ports.python_crashed'));
  }
}

/** JSON that isn't nested too deeply. */
function isSound(text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at);
    if (isString) {
      if (letter === 0x5c) at += 1;
      else if (letter === 0x22) isString = false;
    } else if (letter === 0x22) isString = true;
    else if (letter === 0x5b || letter === 0x7b) {
      depth += 1;
      if (depth > MAX_DEPTH) return false;
    } else if (letter === 0x5d || letter === 0x7d) depth -= 1;
  }
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What the interpreter writes: lines of the log and the result. */
class Output {
  readonly #maxBytes: number;
  readonly #log: LogBook;
  readonly #pieces: Uint8Array[] = [];
  readonly #lines: Record<'info' | 'warn', string> = { info: '', warn: '' };
  readonly #decoders = { info: new TextDecoder(), warn: new TextDecoder() };
  #bytes = 0;

  constructor(maxBytes: number, log: LogBook) {
    this.#maxBytes = maxBytes;
    this.#log = log;
  }

  take(fd: number, bytes: Uint8Array): boolean {
    if (fd === RESULT_FD) {
      this.#bytes += bytes.length;
      // The kind of result is one more.
      if (this.#bytes > this.#maxBytes + 1) throw new TooLargeError();
      this.#pieces.push(bytes.slice());
      return true;
    }
    if (fd !== 1 && fd !== 2) return false;
    this.#print(fd === 1 ? 'info' : 'warn', bytes);
    return true;
  }

  #print(level: 'info' | 'warn', bytes: Uint8Array): void {
    // What is too long for the log needn't be read.
    const text = this.#decoders[level].decode(bytes.slice(0, 16 * MAX_LINE), { stream: true });
    const lines = (this.#lines[level] + text).split('\n');
    this.#lines[level] = (lines.pop() ?? '').slice(0, 2 * MAX_LINE);
    for (const line of lines) this.#write(level, line);
  }

  #write(level: 'info' | 'warn', line: string): void {
    this.#log.write(level, line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}… (cut)` : line);
  }

  /** The lines that weren't ended. */
  finish(): void {
    for (const level of ['info', 'warn'] as const) {
      if (this.#lines[level] !== '') this.#write(level, this.#lines[level]);
    }
  }

  result(): string {
    return Buffer.concat(this.#pieces).toString();
  }
}

type Failure = Extract<CodeOutcome, { kind: 'failure' }>;

function failure(code: Failure['code'], said: Failure['message']): CodeOutcome {
  return { kind: 'failure', code, message: said };
}
