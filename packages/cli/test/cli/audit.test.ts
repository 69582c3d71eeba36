import { formatHead } from '@millrace/identity/audit/chain';
import { sealAuditLog } from '@millrace/identity/audit/seal';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { rewriteAuditLog } from '@millrace/testing/audit-log';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { millrace } from './millrace.ts';

let database: TestDatabase;
const heads: string[] = [];
let id: number;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ id } = await createOrganisation(database.db, 'Acme', { actor: 'operator' }));
  await createOrganisation(database.db, 'Other', { actor: 'operator' });
  await sealAuditLog(database.db, { onSealed: (ends) => heads.push(...ends.map(formatHead)) });
});
afterAll(() => database.drop());

const verify = (...words: string[]) =>
  millrace(['audit', 'verify', ...words], { env: { DATABASE_URL: database.url } });

it('audit verify says what it verified, and what is not as it was recorded', async () => {
  const [head = ''] = heads.filter((each) => each.startsWith(`${id}:`));
  const sound = await verify('--head', head);
  expect(sound).toMatchObject({ exitCode: 0, stderr: '' });
  expect(sound.stdout).toContain(`ok  ${id}  Acme: 1 entry as recorded.\n    Head: ${head}\n`);
  expect(sound.stdout).toContain('  Other: 1 entry as recorded.');

  await rewriteAuditLog(database.db, "UPDATE audit_log SET actor = 'service' WHERE organisation_id = $1", [
    id,
  ]);
  const changed = await verify('--org', 'Acme');
  expect(changed).toMatchObject({ exitCode: 1, stderr: '' });
  expect(changed.stdout).toMatch(
    /^error {2}\d+ {2}Acme: 1 problem in 1 entry\.\n {4}Entry \d+ \(position 1\) was changed\./,
  );

  const other = `${id}:1:${'0'.repeat(64)}`;
  const json = await verify('--json', '--org', 'Acme', '--head', other);
  expect(json.exitCode).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject([
    {
      organisation_id: id,
      entries: 1,
      head,
      problem_count: 2,
      problems: [
        { kind: 'head_differs', position: 1 },
        { kind: 'entry_changed', position: 1 },
      ],
    },
  ]);
});

it('a head that is none, or of another organisation, is refused', async () => {
  expect(await verify('--head', '1:2:3')).toMatchObject({ exitCode: 2 });
  const elsewhere = await verify('--org', 'Other', '--head', `${id}:1:${'0'.repeat(64)}`);
  expect(elsewhere).toMatchObject({ exitCode: 1, stdout: '' });
  expect(elsewhere.stderr).toContain("which doesn't exist or wasn't chosen");
});
