import { parseArgs } from 'node:util';

/** What a campaign does. */
export interface CampaignOptions {
  /** Starts that are sent; children and fires of the schedule come on top. */
  readonly executions: number;
  readonly faults: number;
  readonly seed: number;
  readonly apis: number;
  readonly workers: number;
}

const DEFAULTS: CampaignOptions = { executions: 1_000, faults: 50, seed: 1, apis: 2, workers: 3 };

export const HELP = `npm run test:campaign -- [options]

Runs workflows of every kind while faults happen, and counts what was lost, doubled, stuck or changed.

  --executions N  starts to send (${DEFAULTS.executions})
  --faults M      faults to inject (${DEFAULTS.faults}); 0 is the control run
  --seed S        decides on the order, kind, target and length of the faults, and on the workflows (${DEFAULTS.seed})
  --apis N        processes that accept starts (${DEFAULTS.apis})
  --workers N     processes that run executions (${DEFAULTS.workers})
  --json          prints the report as JSON
  --help

Exit code 0 if nothing was found, 1 if something was, 2 if the options are wrong.`;

export type Task =
  | { readonly kind: 'help' }
  | (CampaignOptions & { readonly kind: 'run'; readonly json: boolean });

/** Thrown for options that can't be used, with a message for the user. */
export class UsageError extends Error {}

/** @throws UsageError */
export function parseOptions(args: readonly string[]): Task {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  let values: { [name: string]: string | boolean | undefined };
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        executions: text,
        faults: text,
        seed: text,
        apis: text,
        workers: text,
        json: flag,
        help: flag,
      },
    }));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  if (values.help === true) return { kind: 'help' };
  const number = (name: keyof CampaignOptions, least: number): number => {
    const given = values[name];
    if (given === undefined) return DEFAULTS[name];
    const value = Number(given);
    if (!Number.isSafeInteger(value) || value < least) {
      throw new UsageError(`--${name} must be a whole number from ${least}`);
    }
    return value;
  };
  return {
    kind: 'run',
    executions: number('executions', 1),
    faults: number('faults', 0),
    seed: number('seed', 0),
    apis: number('apis', 1),
    workers: number('workers', 1),
    json: values.json === true,
  };
}
