import { parseRunOptions, type RunTask } from '../run-options.ts';

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

const LEAST: FailoverOptions = { kills: 1, servers: 2 };

/** @throws UsageError */
export function parseOptions(args: readonly string[]): RunTask<FailoverOptions> {
  return parseRunOptions(args, { ...DEFAULTS }, { ...LEAST });
}
