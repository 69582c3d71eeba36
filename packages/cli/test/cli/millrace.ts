import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

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
export function millrace(words: readonly string[], options: RunOptions = {}): Promise<Run> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH ?? '', ...options.env };
    const child = execFile(process.execPath, [BIN, ...words], { env }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
    child.stdin?.end(options.stdin ?? '');
  });
}
