import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  anySeed,
  commandToRepeat,
  parseSoakOptions,
  SOAK_HELP,
  type SoakOptions,
  seedsFrom,
  UsageError,
} from './soak-options.ts';
import { propertyTests } from './test-needs.ts';

/** They end a round, and what it started. */
const STOPPING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  const task = parseSoakOptions(args);
  if (task.kind === 'help') {
    console.log(SOAK_HELP);
    return 0;
  }
  const files = propertyTests(ROOT).filter(
    (path) => task.files.length === 0 || task.files.some((part) => path.includes(part)),
  );
  if (files.length === 0) throw new UsageError(`No property test has a path with ${task.files.join(', ')}.`);
  const until = Date.now() + task.minutes * 60_000;
  for (const seed of seedsFrom(task.seed ?? anySeed(Math.random()))) {
    console.log(`\nSeed ${seed}, ${task.runs} times the usual runs, ${files.length} test files`);
    const code = await runOnce(task, seed, files);
    if (code === null) return 130;
    if (code !== 0) {
      console.log(`\nTo repeat it, with the path of the file that failed:\n  ${commandToRepeat(task, seed)}`);
      return 1;
    }
    if (Date.now() >= until) break;
  }
  return 0;
}

/** @returns the exit code of the round; null if it was interrupted */
async function runOnce(
  { runs, testName }: SoakOptions,
  seed: number,
  files: readonly string[],
): Promise<number | null> {
  const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
  // As long as it takes: how long depends on the number of runs only.
  const args = [vitest, 'run', '--testTimeout', '0', ...(testName === null ? [] : ['-t', testName])];
  const child = spawn(process.execPath, [...args, ...files], {
    cwd: ROOT,
    env: { ...process.env, MILLRACE_TEST_SEED: String(seed), MILLRACE_TEST_RUNS: String(runs) },
    stdio: 'inherit',
  });
  let isStopped = false;
  const stop = (signal: NodeJS.Signals): void => {
    isStopped = true;
    child.kill(signal);
  };
  for (const signal of STOPPING) process.on(signal, stop);
  const [code] = (await once(child, 'exit')) as [number | null];
  for (const signal of STOPPING) process.off(signal, stop);
  return isStopped ? null : (code ?? 1);
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${SOAK_HELP}`);
  return 2;
});
