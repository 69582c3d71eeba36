import type { Database, Queryable } from '../../db/database.ts';
import { type AuditActor, insertAudit } from '../audit/store.ts';
import { AccountError } from './account-error.ts';

export interface OrganisationRow {
  readonly id: number;
  readonly name: string;
  readonly created_at: Date;
}

/**
 * Creates an organisation and records it.
 * @throws AccountError `invalid_value`, or `organisation_exists` when the name is taken
 */
export async function createOrganisation(
  db: Database,
  text: string,
  by: AuditActor,
): Promise<OrganisationRow> {
  const name = text.trim();
  if (name.length < 1 || [...name].length > 255 || /^\d+$/.test(name)) {
    throw new AccountError(
      'invalid_value',
      'An organisation name has 1 to 255 characters and is not only digits (those are ids).',
    );
  }
  return db.transaction(async (tx) => {
    const row = await insertOrganisation(tx, name);
    if (row === undefined) {
      throw new AccountError(
        'organisation_exists',
        `An organisation named "${name}" exists already; choose another name.`,
      );
    }
    await insertAudit(tx, { organisationId: row.id, action: 'organisation.created', by, details: { name } });
    return row;
  });
}

async function insertOrganisation(db: Queryable, name: string): Promise<OrganisationRow | undefined> {
  const rows = await db.query<OrganisationRow>(
    'INSERT INTO organisations (name) VALUES ($1) ON CONFLICT (name) DO NOTHING RETURNING id, name, created_at',
    [name],
  );
  return rows[0];
}

/** All organisations, oldest first. */
export async function listOrganisations(db: Queryable): Promise<OrganisationRow[]> {
  return db.query<OrganisationRow>('SELECT id, name, created_at FROM organisations ORDER BY id');
}

/**
 * The organisation with this id (digits) or this exact name.
 * @throws AccountError `organisation_not_found`
 */
export async function findOrganisation(db: Queryable, idOrName: string): Promise<OrganisationRow> {
  const id = /^[1-9]\d{0,15}$/.test(idOrName) ? Number(idOrName) : null;
  const [row] = await db.query<OrganisationRow>(
    'SELECT id, name, created_at FROM organisations WHERE id = $1 OR name = $2',
    [id, idOrName.trim()],
  );
  if (row === undefined) {
    throw new AccountError(
      'organisation_not_found',
      `There is no organisation "${idOrName}"; \`millrace orgs list\` shows them.`,
    );
  }
  return row;
}
