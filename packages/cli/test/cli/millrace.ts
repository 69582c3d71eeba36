import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { runCommand } from '../../src/commands/run-command.ts';
import { builtCommand } from '../built-command.ts';

export interface Run {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Variables besides PATH; nothing else of the environment is passed on. */
  readonly env?: { readonly [name: string]: string };
  readonly stdin?: string;
}

/** Runs the real `millrace` as a child process, without a terminal. */
export async function millraceProcess(words: readonly string[], options: RunOptions = {}): Promise<Run> {
  const entry = await builtCommand();
  return await new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH ?? '', ...options.env };
    const child = execFile(process.execPath, [entry, ...words], { env }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
    child.stdin?.end(options.stdin ?? '');
  });
}

let latest: Promise<unknown> = Promise.resolve();

/**
 * Runs a command as `millrace` does, without a terminal and in this process: starting one takes longer than most commands. One at a time,
 * because they share the process's environment and outputs. Process-level behaviour is tested by {@link millraceProcess}.
 */
export function millrace(words: readonly string[], options: RunOptions = {}): Promise<Run> {
  return inTurn(() => runHere(words, options));
}

function inTurn(work: () => Promise<Run>): Promise<Run> {
  const run = latest.then(work);
  latest = run.catch(() => {});
  return run;
}

/** A shell line that uses the command, run in the folder with its files. */
export interface ShellOptions {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
}

/** What a user sees who types it: both outputs, interleaved. */
export interface Shown {
  readonly exitCode: number;
  readonly text: string;
}

/** The shell's last command is millrace, so its output is all that is shown. */
const ENDS_WITH_MILLRACE = /^([^;&>]*\| )?(\w+=\S+ )*millrace [^|;&>]*$/;

/**
 * Runs a line as a shell does. If the last command is millrace, the shell passes on its arguments and input, and it runs in this process,
 * as by {@link millrace}; anything else is run by the real shell, with the built command, which takes half as long as the sources.
 */
export async function shell(line: string, { cwd, env }: ShellOptions): Promise<Shown> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-shell-'));
  const isLast = ENDS_WITH_MILLRACE.test(line);
  const script = isLast ? SAY_WORDS : `exec "${process.execPath}" "${await builtCommand()}" "$@"`;
  try {
    await writeFile(join(folder, 'millrace'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const path = [folder, dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
    const shown = await runShell(`{ ${line}\n} 2>&1`, { cwd, env: { ...env, PATH: path } });
    if (!isLast) return shown;
    const words = (await readFile(join(folder, 'words'), 'utf8')).split('\0').slice(0, -1);
    const stdin = await readFile(join(folder, 'stdin'), 'utf8');
    const run = await inTurn(() => runHere(words, { cwd, env, stdin, isMerged: true }));
    return { exitCode: run.exitCode, text: run.stdout };
  } finally {
    await rm(folder, { recursive: true });
  }
}

const SAY_WORDS = `printf '%s\\0' "$@" > "$(dirname "$0")/words"; cat > "$(dirname "$0")/stdin"`;

function runShell(line: string, options: ShellOptions): Promise<Shown> {
  return new Promise((resolve) => {
    const child = execFile('/bin/sh', ['-c', line], options, (error, text) =>
      resolve({ exitCode: Number(error?.code ?? 0), text }),
    );
    child.stdin?.end();
  });
}

interface HereOptions extends RunOptions {
  readonly cwd?: string;
  /** Both outputs are combined, as in a terminal. */
  readonly isMerged?: boolean;
}

async function runHere(words: readonly string[], options: HereOptions): Promise<Run> {
  const { env = {}, stdin = '', cwd = process.cwd(), isMerged = false } = options;
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const printed = Promise.all([readAll(stdout), readAll(stderr)]);
  const before = process.cwd();
  process.chdir(cwd);
  const giveBack = replaceInProcess({
    env: { PATH: process.env.PATH, ...env },
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout,
    stderr: isMerged ? stdout : stderr,
  });
  let exitCode: number;
  try {
    exitCode = await runCommand(words);
  } finally {
    giveBack();
    process.chdir(before);
    stdout.end();
    stderr.end();
  }
  const [all, errors] = await printed;
  return { exitCode, stdout: all, stderr: errors };
}

/** Replaces these members of `process`. @returns undoes it */
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
