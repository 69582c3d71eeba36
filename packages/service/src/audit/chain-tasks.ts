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

/** How long an entry waits for being sealed, about. */
const SEAL_PAUSE_MS = 10_000;
/** How often it is looked for chains that are due. */
const VERIFY_PAUSE_MS = 60_000;
const CHAINS_AT_ONCE = 100;

/**
 * Seals what was recorded, in one process at a time. The ends of the chains are logged, so that they are kept where nobody who can write to
 * the database can change them.
 */
export function createAuditSealer(db: Database, log: Logger, pauseMs = SEAL_PAUSE_MS): PeriodicTask {
  return createPeriodicTask({
    work: (isStopping) =>
      sealAuditLog(db, {
        isStopping,
        onSealed: (heads) => log.info({ heads: heads.map(formatHead) }, 'audit log sealed'),
      }),
    pauseMs: () => pauseMs,
    onFailure: (error) =>
      log.warn({ err: error }, 'could not seal the audit log; retrying in the next round'),
  });
}

/** Compares each log with its chain now and then, and keeps the result for the page of the log and for `millrace doctor`. */
export function createAuditVerifier(
  db: Database,
  { verifyMs }: AuditSettings,
  log: Logger,
  pauseMs = VERIFY_PAUSE_MS,
): PeriodicTask {
  return createPeriodicTask({
    async work(isStopping) {
      if (verifyMs > 0) await verifyDueChains(db, verifyMs, log, isStopping);
    },
    pauseMs: () => pauseMs,
    onFailure: (error) =>
      log.warn({ err: error }, 'could not verify the audit log; retrying in the next round'),
  });
}

/** Verifies the chains that weren't verified for so long, one after the other. */
export async function verifyDueChains(
  db: Database,
  maxAgeMs: number,
  log: Logger,
  isStopping: () => boolean = () => false,
): Promise<void> {
  for (const organisationId of await listUnverified(db, maxAgeMs, CHAINS_AT_ONCE)) {
    const verification = await verifyAuditLog(db, organisationId, { isStopping });
    if (isStopping()) return;
    // Another process is at it.
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
