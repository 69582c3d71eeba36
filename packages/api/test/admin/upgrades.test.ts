import { readFile } from 'node:fs/promises';
import { issueKey, rotateKey } from '@millrace/identity/api-keys/keys';
import { addMember } from '@millrace/identity/members/store';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { findNameProblem } from '@millrace/identity/values/names';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, expect, test } from 'vitest';

const BY = { actor: 'operator' } as const;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const readMigration = (name: string) =>
  readFile(new URL(`../../../database/src/migrations/${name}.sql`, import.meta.url), 'utf8');

test('existing names lose what is refused from now on, and nothing else', async () => {
  const { db } = database;
  const rows: { code: number; is_refused: boolean }[] = [];
  for (let code = 1; code <= 0x10ffff; code += 1) {
    const isSurrogate = code >= 0xd800 && code <= 0xdfff;
    const text = String.fromCodePoint(code);
    // Unassigned ones may be treated differently by another version of Unicode.
    if (!isSurrogate && !/\p{Cn}/u.test(text))
      rows.push({ code, is_refused: findNameProblem(`a${text}b`)?.code === 'hidden_character' });
  }
  const sql = await readMigration('0020_visible_names');
  await db.transaction(async (tx) => {
    await tx.query(sql.slice(0, sql.indexOf('UPDATE workflows')));
    const wrong = await tx.query(
      `SELECT c.code FROM unnest($1::integer[], $2::boolean[]) AS c (code, is_refused)
       WHERE (pg_temp.visible('a' || chr(code) || 'b') <> 'a' || chr(code) || 'b') <> is_refused`,
      [rows.map(({ code }) => code), rows.map(({ is_refused: isRefused }) => isRefused)],
    );
    expect(wrong).toEqual([]);
    await tx.query(`INSERT INTO organisations (name) VALUES (E'A\\u200bB'), (E'A\\u200cB'), ('👩‍💻')`);
    for (const statement of sql.slice(sql.indexOf('UPDATE workflows')).split(';\n'))
      if (statement.trim() !== '') await tx.query(statement);
    const names = await tx.query<{ name: string }>('SELECT name FROM organisations ORDER BY id');
    expect(names.map(({ name }) => name)).toEqual([
      expect.stringMatching(/^A\uFFFDB \d+$/),
      expect.stringMatching(/^A\uFFFDB \d+$/),
      '👩‍💻',
    ]);
  });
});

test('existing keys belong to whoever issued or rotated them', async () => {
  const { db } = database;
  const { id: organisationId } = await createOrganisation(db, 'Old', BY);
  const home = await createOrganisation(db, 'Home', BY);
  await addMember(db, home.id, 'root@example.com', 'system_admin', BY);
  const member = await addMember(db, organisationId, 'ada@example.com', 'org_admin', BY);
  const users = await db.query<{ id: number }>(
    `INSERT INTO users (email, name) VALUES ('root@example.com', 'Root'), ('ada@example.com', 'Ada') RETURNING id`,
  );
  const [root, ada] = users.map(({ id: userId }, index) => ({
    actor: 'user' as const,
    userId,
    memberId: index === 0 ? null : member.id,
  }));
  if (root === undefined || ada === undefined) throw new Error('nobody was made');
  const issue = { organisationId, name: 'x', scopes: ['workflows:read'] };
  const { row: first } = await issueKey(db, issue, root);
  const { row: second } = await rotateKey(db, { id: first.id }, BY, {});
  const { row: third } = await rotateKey(db, { id: second.id }, ada);
  const { row: operators } = await issueKey(db, issue, BY);
  // As stored by earlier versions.
  await db.query('UPDATE api_keys SET issued_by_user = NULL, issued_by = NULL');

  const sql = await readMigration('0018_key_holders');
  const backfill = sql.slice(sql.indexOf('-- The account behind'), sql.indexOf('-- On whose authority'));
  for (const statement of backfill.split(';\n')) if (statement.trim() !== '') await db.query(statement);
  const rows = await db.query<{ id: number; issued_by_user: number | null; issued_by: number | null }>(
    'SELECT id, issued_by_user, issued_by FROM api_keys ORDER BY id',
  );
  expect(rows).toEqual([
    { id: first.id, issued_by_user: root.userId, issued_by: null },
    { id: second.id, issued_by_user: root.userId, issued_by: null },
    { id: third.id, issued_by_user: ada.userId, issued_by: member.id },
    { id: operators.id, issued_by_user: null, issued_by: null },
  ]);
});
