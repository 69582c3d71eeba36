import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyFile, keyFilePath } from '@millrace/secrets/key-file';
import { createAdminClient } from '@millrace/testing/admin';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { openOutside } from '@millrace/testing/outside';
import { insertExecution, insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/settings/config.ts';
import { startService } from '../../src/start/start-service.ts';
import { NEVER_SHEDS } from '../never-sheds.ts';
import { millrace } from './millrace.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let folder: string;
let source: TestDatabase;
let workflow: WorkflowIds;
const targets: TestDatabase[] = [];
let env: { readonly [name: string]: string };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-backup-'));
  source = await createTestDatabase();
  env = { DATABASE_URL: source.url, MILLRACE_DATA_DIR: join(folder, 'data') };
  workflow = await insertWorkflow(source.db, 'Acme');
  await writeFile(join(folder, 'passphrase'), 'correct horse\n');
  const fields = ['--name', 'CRM', '--type', 'bearer', '--host', 'api.example.com', '--stdin', 'token'];
  const added = await millrace(['credentials', 'add', ...fields], { env, stdin: 'canary-token' });
  expect(added).toMatchObject({ exitCode: 0 });
});
afterAll(async () => {
  await Promise.all([source, ...targets].map((database) => database.drop()));
  await rm(folder, { recursive: true });
});

/** Variables of an instance without content, with a data folder of its own. */
async function emptyInstance(): Promise<{ readonly [name: string]: string }> {
  const target = await createTestDatabase();
  targets.push(target);
  return { DATABASE_URL: target.url, MILLRACE_DATA_DIR: join(folder, `data-${targets.length}`) };
}

const inFolder = (name: string) => join(folder, name);

describe('backup', () => {
  it('writes a private file and leaves nothing beside it; the key is not in it', async () => {
    const run = await millrace(['backup', inFolder('plain'), '--json'], { env });
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    const json = JSON.parse(run.stdout) as {
      secret_key_ids: string[];
      tables: { name: string; rows: number }[];
    };
    expect(json).toMatchObject({ has_secret_keys: false, secret_key_ids: [expect.any(String)] });
    expect(json.tables.find(({ name }) => name === 'organisations')).toMatchObject({ rows: 1 });
    expect((await stat(inFolder('plain'))).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
    const instance = await emptyInstance();
    const restored = await millrace(['restore', inFolder('plain')], { env: instance });
    expect(restored.stdout).toContain(`The stored secrets need the key ${json.secret_key_ids[0]}`);
    await expect(readFile(join(instance.MILLRACE_DATA_DIR ?? '', 'secret.key'))).rejects.toThrow('ENOENT');
  });

  it('says how much is in it', async () => {
    await insertExecution(source.db, workflow);
    const backup = await millrace(['backup', inFolder('counted')], { env });
    expect(backup.stdout).toContain(': 1 execution, ');
    const restored = await millrace(['restore', inFolder('counted')], { env: await emptyInstance() });
    expect(restored.stdout).toContain(': 1 execution, ');
    expect(restored.stdout).toContain('0 executions will continue when the service starts.');
  });

  it('leaves out the content of files if that is wanted, and says so, as does the restore', async () => {
    const run = await millrace(['backup', '--no-files', inFolder('rows')], { env });
    expect(run.stdout).toContain('The contents of files are not in it: copy their folder, too.');
    const json = await millrace(['backup', '--no-files', inFolder('rows'), '--json'], { env });
    expect(JSON.parse(json.stdout)).toMatchObject({ files: null });
    const restored = await millrace(['restore', inFolder('rows')], { env: await emptyInstance() });
    expect(restored.stdout).toContain('The contents of files were not restored');
    expect((await millrace(['backup', inFolder('all')], { env })).stdout).not.toContain('contents of files');
  });

  it('leaves the file that is there alone if it fails', async () => {
    await writeFile(inFolder('earlier'), 'an earlier backup');
    const unreachable = { ...env, DATABASE_URL: 'postgresql://millrace@127.0.0.1:1/none' };
    expect((await millrace(['backup', inFolder('earlier')], { env: unreachable })).exitCode).toBe(1);
    expect(await readFile(inFolder('earlier'), 'utf8')).toBe('an earlier backup');
    const nowhere = await millrace(['backup', inFolder('no/such/folder')], { env });
    expect(nowhere).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("Couldn't write the backup"),
    });
  });

  it.each([
    ['the key without encryption', ['--include-key', 'x'], 'plain_key'],
    ['JSON next to the backup', ['-'], 'conflicting_options'],
    ['a passphrase that nobody can type', ['--encrypt', 'x'], 'missing_option'],
  ])('refuses %s', async (_what, words, code) => {
    const { exitCode, stderr } = await millrace(['backup', ...words, '--json'], { env });
    expect({ exitCode, code: JSON.parse(stderr).error.code }).toEqual({ exitCode: 2, code });
  });
});

describe('restore', () => {
  beforeAll(async () => {
    const words = [
      'backup',
      '--include-key',
      '--passphrase-file',
      inFolder('passphrase'),
      inFolder('encrypted'),
    ];
    expect(await millrace(words, { env })).toMatchObject({ exitCode: 0 });
  });
  const words = () => ['restore', inFolder('encrypted'), '--passphrase-file', inFolder('passphrase')];

  it('puts an included key where the service looks for it, so that secrets can be read', async () => {
    const instance = await emptyInstance();
    const run = await millrace([...words(), '--json'], { env: instance });
    expect(JSON.parse(run.stdout)).toMatchObject({ missing_secret_key_ids: [], requeued: 0 });
    const path = join(instance.MILLRACE_DATA_DIR ?? '', 'secret.key');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    // A rotation decrypts every secret.
    const rotated = await millrace(['secrets', 'rotate', '--json'], { env: instance });
    expect(JSON.parse(rotated.stdout)).toMatchObject({ reencrypted: 1 });
  });

  it('refuses a data folder with another key, a missing passphrase and an instance with content', async () => {
    const instance = await emptyInstance();
    const key = join(instance.MILLRACE_DATA_DIR ?? '', 'secret.key');
    const taken = { ...instance, MILLRACE_DATA_DIR: join(folder, 'taken') };
    await createKeyFile(keyFilePath(taken.MILLRACE_DATA_DIR));
    expect(await codeOf([...words()], taken)).toBe('restore_key');
    expect(await codeOf(['restore', inFolder('encrypted')], instance)).toBe('missing_option');
    expect(await codeOf([...words()], env)).toBe('restore_not_empty');
    await expect(readFile(key)).rejects.toThrow('ENOENT');
  });
});

describe('an organisation', () => {
  it('is backed up once it is paused, and restored beside others, with its key', async () => {
    const words = ['backup', '--organisation', String(workflow.organisationId), inFolder('acme')];
    expect(await codeOf(words, env)).toBe('organisation_not_paused');
    expect((await millrace(['backup', '--organisation', 'Acme', inFolder('acme')], { env })).exitCode).toBe(
      2,
    );
    await millrace(['orgs', 'pause', '--org', 'Acme', '--grace', '0'], { env });
    const backup = await millrace(words, { env });
    expect(backup.stdout).toContain('Backed up the organisation "Acme" to ');
    const instance = await emptyInstance();
    await targets.at(-1)?.db.query(`INSERT INTO organisations (name) VALUES ('Other'), ('Another')`);
    expect(await codeOf(['restore', inFolder('acme')], instance)).toBe('restore_key');
    const key = join(env.MILLRACE_DATA_DIR ?? '', 'secret.key');
    const run = await millrace(['restore', inFolder('acme'), '--key-file', key, '--paused', '--json'], {
      env: instance,
    });
    expect(JSON.parse(run.stdout)).toMatchObject({
      name: 'Acme',
      organisation_id: 2 + workflow.organisationId,
    });
    const listed = await millrace(['orgs', 'list', '--json'], { env: instance });
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { name: 'Other', paused_at: null },
      { name: 'Another', paused_at: null },
      { name: 'Acme', paused_at: expect.any(String) },
    ]);
    await millrace(['orgs', 'resume', '--org', 'Acme'], { env });
  });

  it('of a whole instance can be restored paused, so that a drill runs nothing', async () => {
    await millrace(['backup', inFolder('drill')], { env });
    const instance = await emptyInstance();
    const run = await millrace(['restore', '--paused', inFolder('drill')], { env: instance });
    expect(run.stdout).toContain('Every organisation is paused');
    expect(run.stdout).not.toContain('old instance is stopped');
    const listed = await millrace(['orgs', 'list', '--json'], { env: instance });
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'Acme', paused_at: expect.any(String) }]);
  });

  it('passes the recovery drill: sign in, look at the newest execution, test a credential', async () => {
    const outside = await openOutside();
    outside.on('GET /me', ({ headers }) => ({ status: headers.authorization === 'Bearer tide' ? 200 : 401 }));
    const crm = ['credentials', 'add', '--name', 'Drill', '--type', 'bearer', '--stdin', 'token', '--json'];
    const added = await millrace([...crm, '--host', new URL(outside.url).host], { env, stdin: 'tide' });
    const email = 'ada@example.com';
    await millrace(['members', 'add', '--org', 'Acme', '--email', email, '--role', 'editor'], { env });
    const password = 'analytical engine';
    await millrace(['users', 'set-password', '--email', email, '--stdin'], { env, stdin: password });
    const newest = await insertExecution(source.db, workflow);
    await millrace(['backup', inFolder('drill')], { env });

    // As docs/operations.md tells it.
    const instance = await emptyInstance();
    await millrace(['restore', '--paused', inFolder('drill')], { env: instance });
    await mkdir(instance.MILLRACE_DATA_DIR ?? '', { recursive: true });
    const key = keyFilePath(instance.MILLRACE_DATA_DIR ?? '');
    await copyFile(keyFilePath(env.MILLRACE_DATA_DIR ?? ''), key);
    await chmod(key, 0o600);
    const config = loadConfig({ ...NEVER_SHEDS, ...instance, PORT: '0', MILLRACE_ALLOW_HOSTS: '127.0.0.1' });
    const roles = { api: true, worker: true };
    const service = await startService({ config, roles, log: pino({ level: 'silent' }) });
    try {
      const url = service.address ?? '';
      const signedIn = await createAdminClient(url, null)('POST /sign-in', { body: { email, password } });
      expect(signedIn.status).toBe(204);
      const call = createAdminClient(url, (signedIn.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '');
      const { organisationId: org } = workflow;
      const list = await call('GET /orgs/:org/executions', { params: { org } });
      // It waits for its organisation to be resumed.
      expect(list.data.items[0]).toMatchObject({ id: newest, status: 'queued' });
      const { id: credential } = JSON.parse(added.stdout) as { readonly id: number };
      const tested = await call('POST /orgs/:org/credentials/:credential/test', {
        params: { org, credential },
        body: { url: `${outside.url}/me` },
      });
      expect(tested.data).toMatchObject({ outcome: 'works', status: 200 });
    } finally {
      await service.stop();
      await outside.close();
    }
  });
});

async function codeOf(
  words: readonly string[],
  variables: { readonly [name: string]: string },
): Promise<string> {
  const { stderr } = await millrace([...words, '--json'], { env: variables });
  return JSON.parse(stderr).error.code;
}
