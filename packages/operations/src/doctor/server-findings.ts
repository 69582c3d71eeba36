import { message } from '@millrace/messages';
import type { Finding } from './finding.ts';
import type { ServerFacts } from './store.ts';

const OLDEST_VERSION = 150_000;
/** Clocks differ by less than this on machines whose time is synchronised. */
const MAX_DRIFT_MS = 5_000;
/** From here on, second factors and signatures with a time are refused. */
const BAD_DRIFT_MS = 30_000;

/** What is wrong with the PostgreSQL server, or with how this service uses it. */
export function serverFindings(facts: ServerFacts, connectionsPerProcess: number): Finding[] {
  return [
    ...versionFindings(facts),
    ...durabilityFindings(facts),
    ...connectionFindings(facts, connectionsPerProcess),
  ];
}

function versionFindings(facts: ServerFacts): Finding[] {
  const findings: Finding[] = [];
  if (facts.version < OLDEST_VERSION) {
    findings.push({
      check: 'server',
      level: 'error',
      what: message('doctor.server_old', { version: facts.version_name }),
      why: message('doctor.server_old_why'),
      fix: message('doctor.server_old_fix'),
    });
  }
  if (facts.is_unrestricted) {
    findings.push({
      check: 'server',
      level: 'warning',
      what: message('doctor.role_unrestricted', { role: facts.role }),
      why: message('doctor.role_unrestricted_why'),
      fix: message('doctor.role_unrestricted_fix'),
    });
  }
  if (facts.autovacuum === 'off') {
    findings.push({
      check: 'server',
      level: 'warning',
      what: message('doctor.autovacuum_off'),
      why: message('doctor.autovacuum_off_why'),
      fix: message('doctor.setting_off_fix', { name: 'autovacuum' }),
    });
  }
  return findings;
}

function durabilityFindings(facts: ServerFacts): Finding[] {
  const names = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;
  return names
    .filter((name) => facts[name] === 'off')
    .map((name) => ({
      check: 'durability',
      level: 'error',
      what: message('doctor.setting_off', { name }),
      why: message(
        name === 'synchronous_commit' ? 'doctor.synchronous_commit_off_why' : 'doctor.fsync_off_why',
      ),
      fix: message('doctor.setting_off_fix', { name }),
    }));
}

function connectionFindings({ live_workers: workers, connections }: ServerFacts, each: number): Finding[] {
  // Processes without a worker aren't registered anywhere, so these are the least there are.
  const processes = Math.max(workers, 1);
  if (processes * each <= connections) return [];
  return [
    {
      check: 'connections',
      level: 'warning',
      what: message('doctor.connections_short', {
        count: processes,
        needed: processes * each,
        allowed: connections,
      }),
      why: message('doctor.connections_short_why'),
      fix: message('doctor.connections_short_fix', { needed: processes * each }),
    },
  ];
}

/** @param driftMs how far this machine's clock is ahead of the database's, apart from the time that asking took */
export function clockFindings(driftMs: number): Finding[] {
  const seconds = Math.round(Math.abs(driftMs) / 1000);
  if (Math.abs(driftMs) < MAX_DRIFT_MS) return [];
  return [
    {
      check: 'clock',
      level: Math.abs(driftMs) < BAD_DRIFT_MS ? 'warning' : 'error',
      what:
        driftMs > 0
          ? message('doctor.clock_ahead', { seconds })
          : message('doctor.clock_behind', { seconds }),
      why: message('doctor.clock_why'),
      fix: message('doctor.clock_fix'),
    },
  ];
}

/** Nothing runs without a worker. */
export function workerFindings({ live_workers: workers }: ServerFacts): Finding[] {
  if (workers > 0) return [];
  return [
    {
      check: 'workers',
      level: 'error',
      what: message('doctor.no_workers'),
      why: message('doctor.no_workers_why'),
      fix: message('doctor.no_workers_fix'),
    },
  ];
}
