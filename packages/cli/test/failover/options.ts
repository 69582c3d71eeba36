import { parseArgs } from 'node:util';

/** What a failover test does. */
export interface FailoverOptions {
  /** How often the primary is killed. */
  readonly kills: number;
  /** PostgreSQL servers: one primary, the others are standbys. */
  readonly servers: number;
}

const DEFAULTS: FailoverOptions = { kills: 10, servers: 2 };

export const HELP = `npm run test:failover -- [options]

Kills the primary of a PostgreSQL cluster under Patroni and etcd, again and again while executions are started, and counts
what was lost or doubled. Needs Debian's packages: apt-get install postgresql pgbouncer patroni etcd-server

  --kills N     how often the primary is killed (${DEFAULTS.kills}): in turns PostgreSQL alone, and with its Patroni, as when the machine fails
  --servers N   PostgreSQL servers, from 2 (${DEFAULTS.servers}). With two, nothing is accepted until the killed one is back as a standby
  --json        prints the report as JSON
  --help

Exit code 0 if nothing was lost or doubled, and starts were accepted at most ten seconds after each promotion (with two servers: after
there was a standby again), or if Patroni isn't installed; 1 otherwise, 2 if the options are wrong.`;

export type Task =
  | { readonly kind: 'help' }
  | (FailoverOptions & { readonly kind: 'run'; readonly json: boolean });

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
      options: { kills: text, servers: text, json: flag, help: flag },
    }));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  if (values.help === true) return { kind: 'help' };
  const number = (name: keyof FailoverOptions, least: number): number => {
    const given = values[name];
    if (given === undefined) return DEFAULTS[name];
    const value = Number(given);
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw new UsageError(`--${name} must be a whole number from ${least}`);
  };
  return {
    kind: 'run',
    kills: number('kills', 1),
    servers: number('servers', 2),
    json: values.json === true,
  };
}
