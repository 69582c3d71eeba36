import type { Database, Queryable } from '@millrace/database/database';
import { isUniqueViolation } from '@millrace/database/errors';
import { queryRow } from '@millrace/database/query-row';
import { message } from '@millrace/messages';
import { type AuditActor, insertAudit } from '../audit/store.ts';
import { AccountError } from '../values/account-error.ts';
import { findNameProblem } from '../values/names.ts';

/** The largest weight, and the largest cap in percent. */
const MAX_SHARE = 100;

export interface OrganisationRow {
  readonly id: number;
  readonly name: string;
  readonly created_at: Date;
  /** Slots are shared in this proportion: 1 to 100. */
  readonly slot_weight: number;
  /** Percentage of each worker's slots that its executions may hold. */
  readonly slot_cap_percent: number;
  /** Since when nothing of it runs; null: it isn't paused. */
  readonly paused_at: Date | null;
}

/** What an organisation is given of the workers' slots; omitted members stay as they are. */
export interface ShareChange {
  readonly weight?: number | undefined;
  readonly capPercent?: number | undefined;
}

/**
 * Creates an organisation and records it.
 * @throws AccountError `invalid_value`, or `organisation_exists` if the name is taken
 */
export async function createOrganisation(
  db: Database,
  text: string,
  by: AuditActor,
): Promise<OrganisationRow> {
  const name = checkName(text);
  return db.transaction(async (tx) => {
    const row = await insertOrganisation(tx, name);
    if (row === undefined) throw nameTaken(name);
    const details = { name };
    await insertAudit(tx, { organisationId: row.id, action: 'organisation.created', by, details });
    return row;
  });
}

/**
 * Renames an organisation and records it.
 * @throws AccountError `invalid_value`, or `organisation_exists` if the name is taken
 */
export async function renameOrganisation(
  db: Database,
  id: number,
  text: string,
  by: AuditActor,
): Promise<OrganisationRow> {
  const name = checkName(text);
  return db.transaction(async (tx) => {
    const before = await findOrganisation(tx, String(id));
    if (before.name === name) return before;
    const row = await updateName(tx, id, name);
    if (row === undefined) throw nameTaken(name);
    const details = { before: before.name, name };
    await insertAudit(tx, { organisationId: id, action: 'organisation.renamed', by, details });
    return row;
  });
}

/**
 * Changes what an organisation is given of the workers' slots, and records it. Workers notice at once.
 * @throws AccountError `invalid_value`
 */
export async function changeShare(
  db: Database,
  id: number,
  { weight, capPercent }: ShareChange,
  by: AuditActor,
): Promise<OrganisationRow> {
  refuseShare(weight, 'weight');
  refuseShare(capPercent, 'cap');
  return db.transaction(async (tx) => {
    const before = await lockOrganisation(tx, id);
    const row = await updateShare(tx, before, weight, capPercent);
    const pick = (share: OrganisationRow) => ({
      weight: share.slot_weight,
      cap_percent: share.slot_cap_percent,
    });
    const details = { before: pick(before), after: pick(row) };
    await insertAudit(tx, { organisationId: id, action: 'organisation.share_changed', by, details });
    return row;
  });
}

function refuseShare(value: number | undefined, name: string): void {
  if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= MAX_SHARE)) return;
  const explanation = message('identity.organisation_share', { name, max: MAX_SHARE });
  throw new AccountError('invalid_value', explanation, `/${name}`);
}

/**
 * Locked against concurrent changes, so that the audit entries follow one another.
 * @throws AccountError `organisation_not_found`
 */
export async function lockOrganisation(tx: Queryable, id: number): Promise<OrganisationRow> {
  await tx.query('SELECT FROM organisations WHERE id = $1 FOR NO KEY UPDATE', [id]);
  return findOrganisation(tx, String(id));
}

function updateShare(
  tx: Queryable,
  before: OrganisationRow,
  weight = before.slot_weight,
  capPercent = before.slot_cap_percent,
): Promise<OrganisationRow> {
  return queryRow<OrganisationRow>(
    tx,
    `WITH changed AS (
       UPDATE organisations SET slot_weight = $2, slot_cap_percent = $3 WHERE id = $1
       RETURNING id, name, created_at, slot_weight, slot_cap_percent, paused_at
     )
     SELECT changed.* FROM changed, pg_notify('millrace_queue', 'shares')`,
    [before.id, weight, capPercent],
  );
}

function checkName(text: string): string {
  const name = text.trim();
  const problem = findNameProblem(name);
  if (problem !== null) {
    throw new AccountError(
      'invalid_value',
      message('identity.organisation_name', { fault: problem.message }),
      '/name',
    );
  }
  if (/^\d+$/.test(name)) {
    throw new AccountError('invalid_value', message('identity.organisation_name_digits'), '/name');
  }
  return name;
}

function nameTaken(name: string): AccountError {
  return new AccountError('organisation_exists', message('identity.organisation_exists', { name }));
}

/** Undefined if another organisation has the name; the transaction must then be rolled back. */
async function updateName(tx: Queryable, id: number, name: string): Promise<OrganisationRow | undefined> {
  try {
    const [row] = await tx.query<OrganisationRow>(
      'UPDATE organisations SET name = $2 WHERE id = $1 RETURNING id, name, created_at, slot_weight, slot_cap_percent, paused_at',
      [id, name],
    );
    return row;
  } catch (error) {
    // No earlier check can detect one that is taking the name right now.
    if (isUniqueViolation(error)) return undefined;
    throw error;
  }
}

async function insertOrganisation(db: Queryable, name: string): Promise<OrganisationRow | undefined> {
  const rows = await db.query<OrganisationRow>(
    'INSERT INTO organisations (name) VALUES ($1) ON CONFLICT (name) DO NOTHING RETURNING id, name, created_at, slot_weight, slot_cap_percent, paused_at',
    [name],
  );
  return rows[0];
}

/** Organisations below an id, latest first. */
export async function listOrganisationsBelow(
  db: Queryable,
  belowId: number | null,
  limit: number,
): Promise<OrganisationRow[]> {
  return db.query<OrganisationRow>(
    `SELECT id, name, created_at, slot_weight, slot_cap_percent, paused_at FROM organisations WHERE $1::bigint IS NULL OR id < $1
     ORDER BY id DESC LIMIT $2`,
    [belowId, limit],
  );
}

/** The organisation created first; undefined if there is none. */
export async function findFirstOrganisation(db: Queryable): Promise<OrganisationRow | undefined> {
  const [row] = await db.query<OrganisationRow>(
    'SELECT id, name, created_at, slot_weight, slot_cap_percent, paused_at FROM organisations ORDER BY id LIMIT 1',
  );
  return row;
}

/** All organisations, oldest first. */
export async function listOrganisations(db: Queryable): Promise<OrganisationRow[]> {
  return db.query<OrganisationRow>(
    'SELECT id, name, created_at, slot_weight, slot_cap_percent, paused_at FROM organisations ORDER BY id',
  );
}

/**
 * The organisation with this id (digits) or this exact name.
 * @throws AccountError `organisation_not_found`
 */
export async function findOrganisation(db: Queryable, idOrName: string): Promise<OrganisationRow> {
  const id = /^[1-9]\d{0,15}$/.test(idOrName) ? Number(idOrName) : null;
  const [row] = await db.query<OrganisationRow>(
    'SELECT id, name, created_at, slot_weight, slot_cap_percent, paused_at FROM organisations WHERE id = $1 OR name = $2',
    [id, idOrName.trim()],
  );
  if (row === undefined) {
    throw new AccountError(
      'organisation_not_found',
      message('identity.organisation_unknown', { organisation: idOrName }),
    );
  }
  return row;
}
