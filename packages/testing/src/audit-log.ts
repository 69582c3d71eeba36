import type { Database } from '@millrace/database/database';

/** Changes the audit log in a way that its triggers refuse, as its owner can. */
export async function rewriteAuditLog(
  db: Database,
  statement: string,
  values: readonly unknown[] = [],
): Promise<void> {
  await db.transaction(async (tx) => {
    await switchTriggers(tx, 'DISABLE');
    await tx.query(statement, values);
    await switchTriggers(tx, 'ENABLE');
  });
}

async function switchTriggers(tx: Pick<Database, 'query'>, to: 'DISABLE' | 'ENABLE'): Promise<void> {
  for (const table of ['audit_log', 'audit_seals', 'audit_chains']) {
    await tx.query(`ALTER TABLE ${table} ${to} TRIGGER USER`);
  }
}
