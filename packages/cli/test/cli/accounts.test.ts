import { parseApiKey } from '@millrace/identity/api-keys/key';
import { findKeysForAuthentication, recordAuthenticationFailures } from '@millrace/identity/api-keys/store';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { millrace, type Run } from './millrace.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

function run(...words: string[]): Promise<Run> {
  return millrace(words, { env: { DATABASE_URL: database.url } });
}

/** The one JSON value a successful command prints. */
async function json(...words: string[]): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await run(...words, '--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** The error of a command that fails with `--json`: on standard error, with nothing on standard output. */
async function failure(...words: string[]): Promise<{ exitCode: number; code: string; message: string }> {
  const { exitCode, stdout, stderr } = await run(...words, '--json');
  expect(stdout).toBe('');
  const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
  return { exitCode, ...error };
}

describe('orgs', () => {
  it('creates, lists, and refuses a second one with the same name', async () => {
    const created = await json('orgs', 'create', '--name', 'Acme');
    expect(created).toEqual({
      id: expect.any(Number),
      name: 'Acme',
      created_at: expect.stringMatching(/Z$/),
      slot_weight: 1,
      slot_cap_percent: 100,
      paused_at: null,
    });
    expect(await json('orgs', 'list')).toEqual([created]);
    expect(await failure('orgs', 'create', '--name', 'Acme')).toMatchObject({
      exitCode: 1,
      code: 'organisation_exists',
    });
    expect((await run('orgs', 'list')).stdout).toMatch(
      /^ID {2}NAME {2}WEIGHT {4}CAP {2}CREATED {15}PAUSED\n +\d+ {2}Acme {7}1 {2}100 % {2}\d{4}-/,
    );
  });

  it('pauses an organisation and resumes it', async () => {
    const words = ['--org', 'Acme', '--grace', '0'];
    expect(await json('orgs', 'pause', ...words)).toMatchObject({
      paused_at: expect.any(String),
      taken_back: 0,
    });
    expect((await run('orgs', 'pause', ...words)).stdout).toContain('"Acme", is paused: nothing runs');
    expect((await run('orgs', 'pause', '--org', 'Acme', '--grace', 'long')).exitCode).toBe(2);
    expect(await json('orgs', 'resume', '--org', 'Acme')).toMatchObject({ paused_at: null });
  });

  it('changes the share of an organisation, and records it', async () => {
    const changed = await json('orgs', 'set-share', '--org', 'Acme', '--weight', '3', '--cap', '50');
    expect(changed).toMatchObject({ name: 'Acme', slot_weight: 3, slot_cap_percent: 50 });
    expect(await json('orgs', 'set-share', '--org', 'Acme', '--cap', '40')).toEqual({
      ...changed,
      slot_cap_percent: 40,
    });
    expect(await failure('orgs', 'set-share', '--org', 'Acme')).toMatchObject({ code: 'missing_option' });
    for (const weight of ['0', '101', '1.5', 'many']) {
      expect((await run('orgs', 'set-share', '--org', 'Acme', '--weight', weight)).exitCode).toBe(2);
    }
  });
});

describe('limits of an organisation', () => {
  it('are changed, kept, and reset to those of the settings', async () => {
    const set = (...words: string[]) => json('orgs', 'set-limits', '--org', 'Acme', ...words);
    const changed = await set('--queue', '500', '--executions-storage', '20GiB');
    expect(changed).toMatchObject({
      ...{ name: 'Acme', queue_limit: 500, data_storage_bytes: null },
      executions_storage_bytes: 20 * 1024 ** 3,
    });
    expect(await set('--data-storage', '0')).toEqual({ ...changed, data_storage_bytes: 0 });
    expect(await set('--queue', 'default', '--data-storage', 'default')).toEqual({
      ...changed,
      queue_limit: null,
    });
    expect(await failure('orgs', 'set-limits', '--org', 'Acme')).toMatchObject({ code: 'missing_option' });
    expect(await failure('orgs', 'set-limits', '--org', 'Acme', '--queue', '2000000')).toMatchObject({
      code: 'invalid_value',
    });
    expect((await run('orgs', 'set-limits', '--org', 'Acme', '--queue', 'many')).exitCode).toBe(2);
  });
});

describe('members', () => {
  it('adds, changes, lists and removes', async () => {
    const ada = ['--org', 'Acme', '--email', 'Ada@example.com'];
    const added = await json('members', 'add', ...ada, '--role', 'viewer');
    expect(added).toMatchObject({ email: 'ada@example.com', role: 'viewer' });
    expect(await json('members', 'add', ...ada, '--role', 'editor')).toEqual({ ...added, role: 'editor' });
    expect(await json('members', 'set-role', ...ada, '--role', 'org_admin')).toEqual({
      ...added,
      role: 'org_admin',
    });
    expect(await json('members', 'list', '--org', 'Acme')).toEqual([{ ...added, role: 'org_admin' }]);
    expect(await json('members', 'remove', ...ada)).toMatchObject({ id: added.id });
    expect(await json('members', 'list', '--org', 'Acme')).toEqual([]);
    expect(await failure('members', 'remove', ...ada)).toMatchObject({
      exitCode: 1,
      code: 'member_not_found',
    });
  });

  it('refuses unknown roles and organisations', async () => {
    const words = ['members', 'add', '--email', 'a@b', '--role'];
    expect(await failure(...words, 'king', '--org', 'Acme')).toMatchObject({
      exitCode: 1,
      code: 'invalid_value',
    });
    expect(await failure(...words, 'viewer', '--org', 'Nobody')).toMatchObject({
      code: 'organisation_not_found',
    });
  });
});

describe('keys', () => {
  it('creates a key that authentication finds, and shows it once', async () => {
    const created = await json(
      'keys',
      'create',
      '--org',
      'Acme',
      '--name',
      'ci',
      '--scopes',
      'workflows:read, executions:read',
    );
    expect(Object.keys(created)).toEqual([
      'id',
      'key',
      'name',
      'scopes',
      'expires_at',
      'organisation_id',
      'last_four',
    ]);
    expect(created).toMatchObject({
      name: 'ci',
      scopes: ['workflows:read', 'executions:read'],
      expires_at: null,
    });
    const text = String(created.key);
    expect(text.slice(-4)).toBe(created.last_four);
    const parsed = parseApiKey(text);
    const [found] = await findKeysForAuthentication(database.db, [parsed?.keyId ?? '']);
    expect(found).toMatchObject({ id: created.id, state: 'valid', issuer: 'operator' });
    const listed = await run('keys', 'list', '--org', 'Acme', '--json');
    expect(listed.stdout).not.toContain(parsed?.secret);
    expect(listed.stdout).toContain(parsed?.keyId);
  });

  it('needs no --org while there is one organisation, and requires it when there are more', async () => {
    const words = ['keys', 'create', '--name', 'x', '--scopes', 'workflows:read'];
    await json(...words);
    await json('orgs', 'create', '--name', 'Second');
    expect(await failure(...words)).toMatchObject({ exitCode: 2, code: 'missing_option' });
  });

  it('holds back grants to an account whose address is not proved', async () => {
    await database.db.query(`INSERT INTO users (email, name) VALUES ('taken@example.com', 'Squatter')`);
    const words = ['members', 'add', '--org', 'Acme', '--email', 'taken@example.com', '--role', 'editor'];
    expect(await json(...words)).toMatchObject({
      email: 'taken@example.com',
      role: 'editor',
      invitation: { url: expect.stringMatching(/\/invitation#token=[\w-]{43}$/) },
    });
    const members = await json('members', 'list', '--org', 'Acme');
    expect(JSON.stringify(members)).not.toContain('taken@example.com');
  });

  it('accepts an expiry and a member', async () => {
    await json('members', 'add', '--org', 'Acme', '--email', 'bea@example.com', '--role', 'viewer');
    const created = await json(
      ...['keys', 'create', '--org', 'Acme', '--name', 'cut', '--scopes', 'workflows:write'],
      ...['--expires-at', '2999-01-31', '--member', 'bea@example.com'],
    );
    expect(created.expires_at).toBe('2999-01-31T00:00:00.000Z');
    const [found] = await findKeysForAuthentication(database.db, [
      parseApiKey(String(created.key))?.keyId ?? '',
    ]);
    expect(found?.issuer).toBe('viewer');
  });

  it('rotates: the new key in the form of create, and the end of the old one', async () => {
    const old = await json(
      'keys',
      'create',
      '--org',
      'Acme',
      '--name',
      'turning',
      '--scopes',
      'executions:read',
    );
    const fresh = await json('keys', 'rotate', String(old.id));
    const { key, id, last_four, ...same } = fresh;
    expect(same).toMatchObject({
      name: 'turning',
      scopes: ['executions:read'],
      organisation_id: old.organisation_id,
    });
    expect(key).not.toBe(old.key);
    expect(last_four).toBe(String(key).slice(-4));
    expect(fresh.old_key).toEqual({ id: old.id, valid_until: expect.stringMatching(/Z$/) });
    expect(id).not.toBe(old.id);
    expect(await failure('keys', 'rotate', String(old.id))).toMatchObject({
      exitCode: 1,
      code: 'key_rotated',
    });
    const own = await run('keys', 'rotate', String(id));
    expect(own.stdout).toMatch(/belongs to +the operator/);
  });

  it('revokes and unlocks, by id and by the key id', async () => {
    const created = await json(
      'keys',
      'create',
      '--org',
      'Acme',
      '--name',
      'going',
      '--scopes',
      'executions:read',
    );
    const keyId = parseApiKey(String(created.key))?.keyId ?? '';
    await recordAuthenticationFailures(
      database.db,
      Array.from({ length: 10 }, () => ({ id: Number(created.id), sourceIp: null, requestId: null })),
    );
    expect((await run('keys', 'list', '--org', 'Acme')).stdout).toMatch(
      new RegExp(`mr_${keyId}_.* going +locked `),
    );
    expect(await json('keys', 'unlock', keyId)).toMatchObject({
      id: created.id,
      state: 'valid',
      locked_at: null,
    });
    expect(await json('keys', 'revoke', String(created.id))).toMatchObject({ state: 'revoked' });
    expect(await json('keys', 'revoke', keyId)).toMatchObject({ state: 'revoked' });
    expect(await failure('keys', 'rotate', keyId)).toMatchObject({ exitCode: 1, code: 'key_revoked' });
    expect(await failure('keys', 'revoke', '999999')).toMatchObject({ exitCode: 1, code: 'key_not_found' });
  });

  it.each([
    [['--scopes', 'everything'], 1, 'invalid_value'],
    [['--scopes', ''], 1, 'invalid_value'],
    [['--scopes', 'workflows:read', '--expires-at', 'soon'], 2, 'usage'],
    [['--scopes', 'workflows:read', '--expires-at', '2001-01-01'], 1, 'invalid_value'],
    [['--scopes', 'workflows:read', '--member', 'nobody@example.com'], 1, 'member_not_found'],
    [[], 2, 'missing_option'],
  ])('refuses %j', async (words, exitCode, code) => {
    expect(await failure('keys', 'create', '--org', 'Acme', '--name', 'x', ...words)).toMatchObject({
      exitCode,
      code,
    });
  });
});
