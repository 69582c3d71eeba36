import { parseRunOptions, type RunTask } from '../run-options.ts';

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

const LEAST: CampaignOptions = { executions: 1, faults: 0, seed: 0, apis: 1, workers: 1 };

/** @throws UsageError */
export function parseOptions(args: readonly string[]): RunTask<CampaignOptions> {
  return parseRunOptions(args, { ...DEFAULTS }, { ...LEAST });
}
