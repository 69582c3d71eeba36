import { parseArgs } from 'node:util';

/** What a soak does. */
export interface SoakOptions {
  /** How many times more often than usual each property is run. */
  readonly runs: number;
  /** Of the first round; each further one takes the next. Null: any. */
  readonly seed: number | null;
  /** Rounds are begun for as long; 0: only one. */
  readonly minutes: number;
  /** Parts of the paths of the test files; none: all. */
  readonly files: readonly string[];
  /** Tests whose name matches; null: all. */
  readonly testName: string | null;
}

const DEFAULT_RUNS = 20;
/** fast-check takes 32 bits, and the simulations derive other seeds from theirs by multiplication. */
const MAX_SEEDS = 100_000_000;

export const SOAK_HELP = `npm run test:soak -- [options] [path ...]

Runs the property tests with seeds that were never tried, and more often than npm test. A path is a part of a test file's path.

  --runs N       runs each property N times as often (${DEFAULT_RUNS})
  --seed S       the seed, from 1 to ${MAX_SEEDS}; a random one if not given
  --minutes M    begins another round, with the next seed, until M minutes have passed; otherwise there is one round
  -t NAME        only tests whose name matches
  --help

Exit code 0 if no property failed, 1 if one did, 2 if the options are wrong.`;

export type SoakTask = { readonly kind: 'help' } | ({ readonly kind: 'run' } & SoakOptions);

/** Thrown for options that can't be used, with a message for the user. */
export class UsageError extends Error {}

/** @throws UsageError */
export function parseSoakOptions(args: readonly string[]): SoakTask {
  const { values, positionals } = parse(args);
  if (values.help === true) return { kind: 'help' };
  const { runs, seed, minutes, 'test-name': testName = null } = values;
  return {
    kind: 'run',
    runs: runs === undefined ? DEFAULT_RUNS : wholeNumber('--runs', runs, 100_000),
    seed: seed === undefined ? null : wholeNumber('--seed', seed, MAX_SEEDS),
    minutes: minutes === undefined ? 0 : wholeNumber('--minutes', minutes, 100_000),
    files: positionals,
    testName,
  };
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...{ runs: text, seed: text, minutes: text, help: { type: 'boolean' } },
        'test-name': { type: 'string', short: 't' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function wholeNumber(name: string, given: string, most: number): number {
  const number = Number(given);
  if (/^\d+$/.test(given) && number >= 1 && number <= most) return number;
  throw new UsageError(`${name} takes a whole number from 1 to ${most}, not "${given}".`);
}

/** Seeds of the rounds, endlessly: the given one and those after it. */
export function* seedsFrom(first: number): Generator<number> {
  for (let seed = first; ; seed = (seed % MAX_SEEDS) + 1) yield seed;
}

/** @param random in [0, 1) */
export function anySeed(random: number): number {
  return 1 + Math.floor(random * MAX_SEEDS);
}

/** The command that runs a round again. */
export function commandToRepeat({ runs, files, testName }: SoakOptions, seed: number): string {
  const name = testName === null ? [] : ['-t', `'${testName.replaceAll("'", String.raw`'\''`)}'`];
  return ['npm run test:soak --', `--runs ${runs} --seed ${seed}`, ...name, ...files].join(' ');
}
