import type { Queryable } from '@millrace/database/database';

/**
 * Adds a setup link, and ends earlier ones, except those of the last few minutes: otherwise a link requested twice would
 * break the page that the first has just opened.
 */
export async function addSetupLink(tx: Queryable, tokenHash: Buffer): Promise<void> {
  await tx.query(`DELETE FROM setup_links WHERE created_at < now() - interval '10 minutes'`);
  await tx.query('INSERT INTO setup_links (token_hash) VALUES ($1)', [tokenHash]);
}

/** Whether there is a setup link with this token. */
export async function hasSetupLink(db: Queryable, tokenHash: Buffer): Promise<boolean> {
  return (await db.query('SELECT FROM setup_links WHERE token_hash = $1', [tokenHash])).length > 0;
}

/** Ends all setup links. */
export async function endSetupLinks(tx: Queryable): Promise<void> {
  await tx.query('DELETE FROM setup_links');
}

/** Deletes leftover links once there is an account: they no longer work. */
export async function pruneSetupLinks(tx: Queryable, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM setup_links WHERE token_hash IN (
       SELECT token_hash FROM setup_links WHERE EXISTS (SELECT FROM users) LIMIT $1) RETURNING token_hash`,
    [limit],
  );
  return rows.length;
}
