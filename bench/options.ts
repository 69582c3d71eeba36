import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Extent } from './row.ts';

export const HELP = `Measures Millrace against a bare server on this machine, in one run. About 45 minutes on two idle cores.

  npm run bench -- [options]

  --quick        one short round with a small table: shows that everything works, its numbers mean little
  --rounds N     rounds; the median of each number is reported (default 5)
  --seconds N    seconds of load per row and round (default 5)
  --only ROW     measure this row only, or all that start with it; may be given several times
  --history N    executions in the database of the growth rows (default 10000000);
                 those rows are only measured if --only names them, as is first-view-all:
                 first headings of all kinds of pages
  --history-folder FOLDER
                 keeps the database of the growth rows there and uses it again;
                 delete the folder when you no longer need it
  --json         print one JSON value on standard output and nothing else
  --record       keep the result in bench/results/ (complete runs only)
  --document     write the newest recorded result into docs/performance.md and measure nothing;
                 with --check: only check that it is there`;

export type Task =
  | { readonly kind: 'help' }
  | { readonly kind: 'document'; readonly check: boolean }
  | {
      readonly kind: 'measure';
      readonly rounds: number;
      readonly effort: Extent;
      /** Row ids. */
      readonly rows: readonly string[];
      /** Where the database of the rows of growth is kept; null: nowhere. */
      readonly historyFolder: string | null;
      readonly json: boolean;
      readonly record: boolean;
    };

/** The command line is invalid; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * @param args without the program's name
 * @param rowIds rows that are measured unless others are named
 * @param namedOnly rows that are measured only if they are named
 * @throws UsageError
 */
export function parseOptions(
  args: readonly string[],
  rowIds: readonly string[],
  namedOnly: readonly string[] = [],
): Task {
  const { help, document, check, quick, only, json, record, ...numbers } = parse(args);
  if (help) return { kind: 'help' };
  if (document) return { kind: 'document', check };
  if (check) throw new UsageError('--check only works with --document');
  const allIds = [...rowIds, ...namedOnly];
  // `growth` is not a row itself, but several start with it.
  const named = (name: string) =>
    allIds.includes(name) ? [name] : allIds.filter((id) => id.startsWith(`${name}-`));
  const unknown = only.filter((name) => named(name).length === 0);
  if (unknown.length > 0)
    throw new UsageError(`no row ${unknown.join(', ')}; there are ${allIds.join(', ')}`);
  if (record && (quick || only.length > 0)) throw new UsageError('--record needs a complete run');
  const chosen = allIds.filter((id) => only.some((name) => named(name).includes(id)));
  const historyFolder = numbers['history-folder'];
  if (historyFolder !== undefined && !(only.length > 0 && chosen.every((id) => id.startsWith('growth-')))) {
    throw new UsageError('--history-folder only works with --only growth or its rows');
  }
  const seconds = positive('--seconds', numbers.seconds) ?? (quick ? 1 : 5);
  return {
    kind: 'measure',
    rounds: positive('--rounds', numbers.rounds) ?? (quick ? 1 : 5),
    effort: {
      seconds,
      warmupSeconds: quick ? 1 : 6,
      connections: 64,
      pageRows: quick ? 5000 : 200_000,
      historyRows: positive('--history', numbers.history) ?? (quick ? 50_000 : 10_000_000),
    },
    rows: only.length > 0 ? chosen : rowIds,
    historyFolder: historyFolder === undefined ? null : resolve(historyFolder),
    json,
    record,
  };
}

function parse(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: flag,
        document: flag,
        check: flag,
        quick: flag,
        json: flag,
        record: flag,
        only: { type: 'string', multiple: true, default: [] },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        history: { type: 'string' },
        'history-folder': { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new UsageError(`${name} takes a whole number of at least 1, not "${text}"`);
  return value;
}
