import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exampleText } from '../../../own-connectors/test/world.ts';
import { millrace } from './millrace.ts';

let database: TestDatabase;
let folder: string;
let file: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
  file = join(folder, 'helpdesk.json');
  await writeFile(file, await exampleText());
  await createOrganisation(database.db, 'Acme', { actor: 'operator' });
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

function run(words: readonly string[], stdin = '', url: string | null = database.url) {
  const env = { MILLRACE_DATA_DIR: folder, ...(url === null ? {} : { DATABASE_URL: url }) };
  return millrace(['connectors', ...words], { env, stdin });
}

it('checks a file without a service', async () => {
  const sound = await run(['upload', file, '--check'], '', null);
  expect(sound).toMatchObject({
    exitCode: 0,
    stdout: `${file}: Helpdesk, 2 operations, 1 trigger. No faults.\n`,
  });
  const text = (await exampleText()).replace(
    '/queues/{{args.queue}}/tickets',
    '/queues/{{args.kind}}/tickets',
  );
  const faulty = await run(['upload', '-', '--check'], text, null);
  expect(faulty.exitCode).toBe(1);
  expect(faulty.stdout).toContain("/operations/0/request/path reads args.kind, which doesn't exist.");
});

it('uploads, lists, updates and removes', async () => {
  expect((await run(['upload', file])).stdout).toBe('Uploaded helpdesk, revision 1.\n');
  expect((await run(['upload', file])).stdout).toBe('helpdesk already has this file, as revision 1.\n');
  const listed = await run(['list', '--json']);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'helpdesk', revision: 1, workflows: 0 }]);
  expect((await run(['update', 'helpdesk'])).stdout).toBe('0 workflows saved with the newest revision.\n');
  expect((await run(['remove', 'helpdesk'])).stdout).toBe('Removed connector helpdesk.\n');
  const gone = await run(['remove', 'helpdesk', '--json']);
  expect([gone.exitCode, JSON.parse(gone.stderr)]).toMatchObject([1, { error: { code: 'not_found' } }]);
  const broken = await run(['upload', '-', '--json'], '{');
  expect(JSON.parse(broken.stderr)).toMatchObject({
    error: { code: 'invalid_connector', details: [expect.any(String)] },
  });
});
