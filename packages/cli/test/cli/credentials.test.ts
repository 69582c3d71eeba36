import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { createSecretKeys } from '@millrace/secrets/keys';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { holdLocks } from '@millrace/testing/hold-locks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAs, storeCredential } from '../../../credentials/test/support.ts';
import { builtCommand } from '../built-command.ts';
import { until } from '../faults/support/until.ts';
import { millrace, type Run } from './millrace.ts';

/** Without the launcher that only finds the right Node: the kill has to hit the working process. */

let database: TestDatabase;
let folder: string;
let organisationId: number;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
  organisationId = (await createOrganisation(database.db, 'Acme', { actor: 'operator' })).id;
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

const seen: string[] = [];

async function run(words: readonly string[], stdin = '', env: { [name: string]: string } = {}): Promise<Run> {
  const variables = { DATABASE_URL: database.url, MILLRACE_DATA_DIR: folder, ...env };
  const outcome = await millrace(words, { env: variables, stdin });
  seen.push(outcome.stdout, outcome.stderr);
  return outcome;
}

async function json(words: readonly string[], stdin = ''): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await run([...words, '--json'], stdin);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function failure(words: readonly string[], stdin = '', env = {}): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await run([...words, '--json'], stdin, env);
  expect(stdout).toBe('');
  return { exitCode, ...(JSON.parse(stderr) as { error: object }).error };
}

function openKeys() {
  return createSecretKeys({ dataDir: folder, secretKeys: { current: null, previous: [] } });
}

async function opened(id: unknown, type: 'bearer' | 'smtp'): Promise<object> {
  const use = { types: [type], ...(type === 'bearer' ? { url: 'https://api.example.com' } : {}) };
  return (await openAs(database, openKeys(), organisationId, Number(id), use)).credential;
}

const ADD = ['credentials', 'add', '--type', 'bearer', '--host', 'api.example.com'];

describe('credentials', () => {
  it('adds from standard input, without showing the secret', async () => {
    const created = await json([...ADD, '--name', 'CRM', '--stdin', 'token'], 'canary-1\n');
    expect(created).toEqual({
      id: expect.any(Number),
      name: 'CRM',
      type: 'bearer',
      hosts: ['api.example.com'],
      fields: {},
      has_secret: true,
      organisation_id: organisationId,
      created_by: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      last_used_at: null,
      connection: null,
    });
    expect(await opened(created.id, 'bearer')).toEqual({ type: 'bearer', token: 'canary-1' });
  });

  it('adds from a file, with single fields overriding it', async () => {
    const file = join(folder, 'smtp.json');
    await writeFile(file, JSON.stringify({ host: 'a.example', username: 'ada', password: 'canary-2' }));
    const words = ['credentials', 'add', '--type', 'smtp', '--name', 'Mail', '--from-file', file];
    const created = await json([...words, '--field', 'host=smtp.example.com', '--field', 'port=465']);
    expect(created.fields).toEqual({
      host: 'smtp.example.com',
      port: 465,
      security: 'starttls',
      username: 'ada',
    });
    expect(await opened(created.id, 'smtp')).toMatchObject({ port: 465, password: 'canary-2' });
  });

  it('adds from a file on standard input', async () => {
    const created = await json([...ADD, '--name', 'piped', '--from-file', '-'], '\ufeff{"token":"canary-3"}');
    expect(await opened(created.id, 'bearer')).toMatchObject({ token: 'canary-3' });
  });

  it('warns about a secret on the command line, and accepts it', async () => {
    const { exitCode, stderr } = await run([...ADD, '--name', 'warned', '--field', 'token=canary-4']);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('warning: token is a secret');
  });

  it('lists, changes and removes', async () => {
    const { id } = await json([...ADD, '--name', 'going', '--stdin', 'token'], 'canary-5');
    expect((await run(['credentials', 'list'])).stdout).toMatch(/ going +bearer +api\.example\.com +\d{4}-/);
    const changed = await json(
      ['credentials', 'update', String(id), '--name', 'renamed', '--stdin', 'token'],
      'canary-6\n',
    );
    expect(changed).toMatchObject({ id, name: 'renamed' });
    expect(await opened(id, 'bearer')).toMatchObject({ token: 'canary-6' });
    expect(await failure(['credentials', 'update', String(id), '--host', 'evil.example'])).toMatchObject({
      exitCode: 1,
      code: 'validation_failed',
      details: [expect.stringContaining('/fields/token: must be given again')],
    });
    expect(await json(['credentials', 'remove', String(id)])).toMatchObject({ id, used_by: [] });
    expect(await failure(['credentials', 'remove', String(id)])).toMatchObject({
      exitCode: 1,
      code: 'not_found',
    });
    expect(JSON.stringify(await json(['credentials', 'list']))).not.toContain('renamed');
  });

  it.each<[string[], string, number, string]>([
    [['credentials', 'add', '--name', 'x'], '', 2, 'missing_option'],
    [['credentials', 'add', '--name', 'x', '--type', 'password'], '', 2, 'unknown_type'],
    [['credentials', 'add', '--name', 'x', '--type', 'bearer'], '', 2, 'missing_option'],
    [[...ADD, '--name', 'x'], '', 2, 'missing_option'],
    [[...ADD, '--name', 'x', '--stdin', 'token'], '', 1, 'validation_failed'],
    [[...ADD, '--name', 'x', '--stdin', 'colour'], 'canary', 2, 'missing_option'],
    [[...ADD, '--name', 'x', '--from-file', '-'], '{"canary', 1, 'file_unreadable'],
    [[...ADD, '--name', 'x', '--from-file', '-'], '["canary"]', 1, 'file_unreadable'],
    [[...ADD, '--name', 'x', '--from-file', '/nowhere'], '', 1, 'file_unreadable'],
    [[...ADD, '--name', 'x', '--from-file', '-', '--stdin', 'token'], 'canary', 2, 'stdin_twice'],
    [[...ADD, '--name', 'x', '--field', 'token'], '', 2, 'invalid_field'],
    [[...ADD, '--name', 'CRM', '--stdin', 'token'], 'canary', 1, 'validation_failed'],
    [['credentials', 'update', '1'], '', 2, 'nothing_to_change'],
    [['credentials', 'update', '999', '--name', 'x'], '', 1, 'not_found'],
    [['credentials', 'update', 'x', '--name', 'x'], '', 2, 'invalid_id'],
  ])('refuses %j', async (words, stdin, exitCode, code) => {
    expect(await failure(words, stdin)).toMatchObject({ exitCode, code });
  });
});

describe('secrets', () => {
  it("says how to close an open key file, and doesn't use it", async () => {
    const file = join(folder, 'secret.key');
    await chmod(file, 0o644);
    expect(await failure([...ADD, '--name', 'open', '--stdin', 'token'], 'canary')).toMatchObject({
      exitCode: 1,
      code: 'secret_key_file',
      message: expect.stringContaining(`chmod 600 ${file}`),
    });
    await chmod(file, 0o600);
  });

  it('says which key is missing', async () => {
    const env = {
      MILLRACE_SECRET_KEY: randomBytes(32).toString('hex'),
      MILLRACE_DATA_DIR: `${folder}/other`,
    };
    expect(await failure([...ADD, '--name', 'wrong', '--stdin', 'token'], 'canary', env)).toMatchObject({
      exitCode: 1,
      code: 'secret_key_missing',
    });
  });

  it("doesn't repeat an invalid key", async () => {
    const env = { MILLRACE_SECRET_KEY: 'canary-passphrase of some length, but no key' };
    const { details } = await failure(['credentials', 'list'], '', env);
    expect(details).toEqual([expect.stringContaining('openssl rand -base64 32')]);
  });

  it('finishes a rotation that was killed halfway; every credential is readable before and after', async () => {
    // Sequentially: all at once would wait for connections longer than a busy machine allows.
    const rows: { readonly id: number }[] = [];
    while (rows.length < 400) {
      const fields = { token: `canary-${rows.length}` };
      rows.push(await storeCredential(database, openKeys(), organisationId, 'bearer', fields));
    }
    const expectAllToOpen = async (): Promise<void> => {
      for (const [index, { id }] of rows.entries()) {
        if (index % 10 === 0) expect(await opened(id, 'bearer')).toMatchObject({ token: `canary-${index}` });
      }
    };
    await killInTheMiddle(rows[250]?.id ?? 0);
    const [left] = await database.db.query<{ count: number }>(
      'SELECT count(DISTINCT key_id) FROM credentials',
    );
    expect(left?.count, 'it was not killed in the middle').toBe(2);
    await expectAllToOpen();

    const rotated = await json(['secrets', 'rotate']);
    expect(rotated).toMatchObject({
      is_resumed: true,
      retired_key_ids: [expect.stringMatching(/^[0-9a-f]{16}$/)],
    });
    const inUse = await database.db.query('SELECT DISTINCT key_id FROM credentials');
    expect(inUse).toEqual([{ key_id: rotated.key_id }]);
    await expectAllToOpen();
    const { stdout, stderr } = await run(['secrets', 'rotate']);
    expect(stdout).toMatch(/Re-encrypted \d+ credentials/);
    expect(stderr).toMatch(/\d+ of \d+/);
    await expectAllToOpen();
  });

  /** Kills `millrace secrets rotate` with SIGKILL while it waits for a credential locked by another transaction. */
  async function killInTheMiddle(heldId: number): Promise<void> {
    const entry = await builtCommand();
    await holdLocks(database.db, async (tx) => {
      await tx.query('SELECT FROM credentials WHERE id = $1 FOR UPDATE', [heldId]);
      const child = spawn(process.execPath, [entry, 'secrets', 'rotate'], {
        env: { PATH: process.env.PATH ?? '', DATABASE_URL: database.url, MILLRACE_DATA_DIR: folder },
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      await until('the rotation waits', isWaiting);
      child.kill('SIGKILL');
      expect(await ended).toEqual([null, 'SIGKILL']);
    });
  }

  async function isWaiting(): Promise<boolean> {
    const rows = await database.db.query(
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'millrace command' AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  }

  it("discards what can't be decrypted, only when confirmed", async () => {
    const before = await readFile(join(folder, 'secret.key'), 'utf8');
    expect(await json(['secrets', 'reset', '--yes'])).toEqual({ given_up: [], second_factor_off: [] });
    expect(await failure(['secrets', 'reset'])).toMatchObject({ exitCode: 2, code: 'missing_option' });
    await rm(join(folder, 'secret.key'));
    const { given_up: lost } = await json(['secrets', 'reset', '--yes']);
    expect((lost as unknown[]).length).toBeGreaterThan(400);
    expect((await run(['credentials', 'list'])).stdout).toContain('(secret lost, enter it again)');
    expect(await readFile(join(folder, 'secret.key'), 'utf8')).not.toBe(before);
  });

  it('appear in no output of these commands', () => {
    expect(seen.length).toBeGreaterThan(40);
    for (const text of seen) expect(text).not.toMatch(/canary/);
  });
});
