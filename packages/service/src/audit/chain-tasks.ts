import type { AuditChainProblem } from '@millrace/admin-api';
import type { Database } from '@millrace/database/database';
import { formatHead } from '@millrace/identity/audit/chain';
import { listUnverified, recordVerification } from '@millrace/identity/audit/chain-store';
import type { Verification } from '@millrace/identity/audit/chain-walk';
import { sealAuditLog } from '@millrace/identity/audit/seal';
import { verifyAuditLog } from '@millrace/identity/audit/verify';
import { createPeriodicTask, type PeriodicTask } from '@millrace/runtime/periodic-task';
import type { Logger } from 'pino';
import type { AuditSettings } from '../settings.ts';

/** About how long an entry waits to be sealed. */
const SEAL_PAUSE_MS = 10_000;
/** How often to look for chains that are due. */
const VERIFY_PAUSE_MS = 60_000;
const CHAINS_AT_ONCE = 100;

/**
 * Seals what was recorded, in one process at a time. The ends of the chains are logged, so that they exist where nobody who can write to
 * the database can change them.
 */
export function createAuditSealer(db: Database, log: Logger): PeriodicTask {
  return createPeriodicTask({
    work: (isStopping) =>
      sealAuditLog(db, {
        isStopping,
        onSealed: (heads) => log.info({ heads: heads.map(formatHead) }, 'audit log sealed'),
      }),
    pauseMs: () => SEAL_PAUSE_MS,
    onFailure: (error) =>
      log.warn({ err: error }, 'could not seal the audit log; retrying in the next round'),
  });
}

/** Compares each log with its chain from time to time, and stores the result for the log's page and `millrace doctor`. */
export function createAuditVerifier(db: Database, { verifyMs }: AuditSettings, log: Logger): PeriodicTask {
  return createPeriodicTask({
    async work(isStopping) {
      if (verifyMs > 0) await verifyDueChains(db, verifyMs, log, isStopping);
    },
    pauseMs: () => VERIFY_PAUSE_MS,
    onFailure: (error) =>
      log.warn({ err: error }, 'could not verify the audit log; retrying in the next round'),
  });
}

/** Verifies the chains that weren't verified for that long, one after the other. */
export async function verifyDueChains(
  db: Database,
  maxAgeMs: number,
  log: Logger,
  isStopping: () => boolean = () => false,
): Promise<void> {
  for (const organisationId of await listUnverified(db, maxAgeMs, CHAINS_AT_ONCE)) {
    const verification = await verifyAuditLog(db, organisationId, { isStopping });
    if (isStopping()) return;
    // Another process is doing it.
    if (verification === null) continue;
    const problem = problemOf(verification);
    if (problem !== null) log.error({ organisationId, problem }, 'the audit log is not as it was recorded');
    await recordVerification(
      db,
      organisationId,
      verification.entries,
      problem === null ? null : JSON.stringify(problem),
    );
  }
}

function problemOf({ problems: [first], problemCount }: Verification): AuditChainProblem | null {
  if (first === undefined) return null;
  return { kind: first.kind, entry_id: first.entryId, position: first.position, count: problemCount };
}
