import { execFile } from 'node:child_process';
import { PassThrough, Readable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../src/commands/run-command.ts';

/** The command as npm links it. */
export const BIN = fileURLToPath(new URL('../../bin/millrace.js', import.meta.url));

/** What a command did. */
export interface Run {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Variables besides PATH; nothing else of the environment is handed on. */
  readonly env?: { readonly [name: string]: string };
  readonly stdin?: string;
}

/** Runs the real `millrace` as a child process, without a terminal. */
export function millraceProcess(words: readonly string[], options: RunOptions = {}): Promise<Run> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH ?? '', ...options.env };
    const child = execFile(process.execPath, [BIN, ...words], { env }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
    child.stdin?.end(options.stdin ?? '');
  });
}

let latest: Promise<unknown> = Promise.resolve();

/**
 * Carries out a command as `millrace` does, without a terminal and in this process: starting one takes longer than most
 * commands. One at a time, as they share the process's environment and outputs. What is about the process itself is
 * tested by {@link millraceProcess}.
 */
export function millrace(words: readonly string[], options: RunOptions = {}): Promise<Run> {
  const run = latest.then(() => runHere(words, options));
  latest = run.catch(() => {});
  return run;
}

async function runHere(words: readonly string[], { env = {}, stdin = '' }: RunOptions): Promise<Run> {
  const outputs = { stdout: new PassThrough(), stderr: new PassThrough() };
  const printed = Promise.all([readAll(outputs.stdout), readAll(outputs.stderr)]);
  const giveBack = replaceInProcess({
    env: { PATH: process.env.PATH, ...env },
    stdin: Readable.from([Buffer.from(stdin)]),
    ...outputs,
  });
  let exitCode: number;
  try {
    exitCode = await runCommand(words);
  } finally {
    giveBack();
    for (const output of Object.values(outputs)) output.end();
  }
  const [stdout, stderr] = await printed;
  return { exitCode, stdout, stderr };
}

/** Puts these in the place of the process's own. @returns undoes it */
function replaceInProcess(replacements: Readonly<Record<string, unknown>>): () => void {
  const names = Object.keys(replacements);
  const before = names.map((name) => Object.getOwnPropertyDescriptor(process, name) ?? {});
  for (const name of names) {
    Object.defineProperty(process, name, { value: replacements[name], configurable: true, writable: true });
  }
  return () => {
    for (const [index, name] of names.entries()) Object.defineProperty(process, name, before[index] ?? {});
  };
}
