import type { Database, Queryable } from '@millrace/database/database';
import { type AuditActor, insertAudit } from '../audit/store.ts';
import { lockOrganisation, type OrganisationRow } from './store.ts';

/**
 * From its commit on, nothing of the organisation is started, leased to a worker, or continued by a callback, and no schedule or alert of it
 * fires; what runs already goes on. Pausing it twice changes nothing.
 * @throws AccountError `organisation_not_found`
 */
export function pauseOrganisation(db: Database, id: number, by: AuditActor): Promise<OrganisationRow> {
  return change(db, id, true, by);
}

/** Everything goes on where it was. @throws AccountError `organisation_not_found` */
export function resumeOrganisation(db: Database, id: number, by: AuditActor): Promise<OrganisationRow> {
  return change(db, id, false, by);
}

function change(db: Database, id: number, isPaused: boolean, by: AuditActor): Promise<OrganisationRow> {
  return db.transaction(async (tx) => {
    const before = await lockOrganisation(tx, id);
    if ((before.paused_at !== null) === isPaused) return before;
    const action = isPaused ? 'organisation.paused' : 'organisation.resumed';
    await insertAudit(tx, { organisationId: id, action, by, details: {} });
    await updatePaused(tx, id, isPaused);
    return lockOrganisation(tx, id);
  });
}

/** Also tells workers and schedulers. */
async function updatePaused(tx: Queryable, id: number, isPaused: boolean): Promise<void> {
  await tx.query(
    `WITH changed AS (
       UPDATE organisations SET paused_at = CASE WHEN $2 THEN now() END WHERE id = $1 RETURNING id
     )
     SELECT pg_notify('millrace_queue', 'shares'), pg_notify('millrace_queue', ''), pg_notify('millrace_schedules', '')
     FROM changed`,
    [id, isPaused],
  );
}
