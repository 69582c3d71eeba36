import type { Database, Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { message } from '@millrace/messages';
import { type AuditActor, insertAudit } from '../audit/store.ts';
import { AccountError } from '../values/account-error.ts';
import { findOrganisation } from './store.ts';

/** What an organisation may queue and store. Null: as the settings say; 0: no limit. */
export interface LimitsRow {
  readonly id: number;
  readonly name: string;
  readonly queue_limit: number | null;
  readonly executions_storage_bytes: number | null;
  readonly data_storage_bytes: number | null;
}

/** Omitted members stay as they are. */
export interface LimitsChange {
  readonly queued?: number | null | undefined;
  readonly executionsBytes?: number | null | undefined;
  readonly dataBytes?: number | null | undefined;
}

/** As in the settings of the service. */
const MAX_QUEUED = 1_000_000;
const MAX_BYTES = 1_000_000 * 1024 ** 3;

/**
 * Changes what an organisation may queue and store, and records it. Processes notice within seconds.
 * @throws AccountError `invalid_value`
 */
export async function changeLimits(
  db: Database,
  id: number,
  change: LimitsChange,
  by: AuditActor,
): Promise<LimitsRow> {
  refuseLimit(change.queued, 'queue', MAX_QUEUED);
  refuseLimit(change.executionsBytes, 'executions_storage', MAX_BYTES);
  refuseLimit(change.dataBytes, 'data_storage', MAX_BYTES);
  return db.transaction(async (tx) => {
    await findOrganisation(tx, String(id));
    const before = await lockLimits(tx, id);
    const row = await updateLimits(tx, before, change);
    const pick = ({ id: _, name: __, ...limits }: LimitsRow): Omit<LimitsRow, 'id' | 'name'> => limits;
    const details = { before: pick(before), after: pick(row) };
    await insertAudit(tx, { organisationId: id, action: 'organisation.limits_changed', by, details });
    return row;
  });
}

function refuseLimit(value: number | null | undefined, name: string, max: number): void {
  if (value === undefined || value === null) return;
  if (Number.isSafeInteger(value) && value >= 0 && value <= max) return;
  throw new AccountError('invalid_value', message('identity.organisation_limit', { name, max }), `/${name}`);
}

/** Locked against concurrent changes, so that the audit entries follow one another. */
function lockLimits(tx: Queryable, id: number): Promise<LimitsRow> {
  return queryRow<LimitsRow>(
    tx,
    `SELECT id, name, queue_limit, executions_storage_bytes, data_storage_bytes FROM organisations
     WHERE id = $1 FOR NO KEY UPDATE`,
    [id],
  );
}

function updateLimits(tx: Queryable, before: LimitsRow, change: LimitsChange): Promise<LimitsRow> {
  const {
    queued = before.queue_limit,
    executionsBytes = before.executions_storage_bytes,
    dataBytes = before.data_storage_bytes,
  } = change;
  return queryRow<LimitsRow>(
    tx,
    `UPDATE organisations SET queue_limit = $2, executions_storage_bytes = $3, data_storage_bytes = $4 WHERE id = $1
     RETURNING id, name, queue_limit, executions_storage_bytes, data_storage_bytes`,
    [before.id, queued, executionsBytes, dataBytes],
  );
}
