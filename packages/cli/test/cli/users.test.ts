import { isPassword } from '@millrace/identity/users/passwords';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { millrace, millraceProcess, type Run } from './millrace.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await run(['orgs', 'create', '--name', 'Acme']);
  await run(['members', 'add', '--email', 'ada@example.com', '--role', 'editor']);
});
afterAll(() => database.drop());

function run(words: readonly string[], stdin?: string): Promise<Run> {
  const env = { DATABASE_URL: database.url };
  return millrace(words, { env, ...(stdin === undefined ? {} : { stdin }) });
}

async function json(words: readonly string[], stdin?: string): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await run([...words, '--json'], stdin);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

const ADA = ['--email', 'Ada@example.com'];

describe('users', () => {
  it("set-password creates a member's account, later changes its password and ends its sessions", async () => {
    const words = ['users', 'set-password', ...ADA, '--stdin'];
    expect(await json(words, 'analytical engine\n')).toEqual({ email: 'ada@example.com', is_new: true });
    await database.db.query(
      "INSERT INTO sessions (user_id, token_hash, expires_at) SELECT id, sha256('x'), now() + interval '1 day' FROM users",
    );
    const again = await millraceProcess(words, {
      env: { DATABASE_URL: database.url },
      stdin: 'difference engine',
    });
    expect(again).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await database.db.query('SELECT FROM sessions')).toEqual([]);
    const [user] = await database.db.query<{ hash: string }>('SELECT password_hash AS hash FROM users');
    expect(await isPassword(user?.hash ?? null, 'difference engine')).toBe(true);
    const audit = await database.db.query(
      "SELECT actor FROM audit_log WHERE action = 'user.password_changed'",
    );
    expect(audit).toEqual([{ actor: 'operator' }, { actor: 'operator' }]);
  });

  it('refuses a weak password, and an unknown address', async () => {
    const weak = await run(['users', 'set-password', ...ADA, '--stdin', '--json'], 'short');
    expect(weak.exitCode).toBe(1);
    expect(weak.stderr).toContain('at least 12 characters');
    const nobody = ['users', 'set-password', '--email', 'nobody@example.com', '--stdin', '--json'];
    expect((await run(nobody, 'analytical engine')).stderr).toContain('user_not_found');
    const withoutOne = await run(['users', 'set-password', ...ADA, '--json']);
    expect(withoutOne.exitCode).toBe(2);
  });

  it('lists accounts without their secrets', async () => {
    const { stdout } = await run(['users', 'list', '--json']);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ email: 'ada@example.com', has_password: true, has_second_factor: false }),
    ]);
    expect(stdout).not.toContain('argon2id');
  });

  it('turns off a second factor and ends sessions', async () => {
    await database.db.query(`INSERT INTO secret_keys (id, state) VALUES ('00112233445566ff', 'current')`);
    await database.db.query(
      "UPDATE users SET totp_key_id = '00112233445566ff', totp_ciphertext = 'x', totp_confirmed_at = now()",
    );
    expect(await json(['users', 'second-factor-off', ...ADA])).toMatchObject({ was_on: true });
    expect(await json(['users', 'second-factor-off', ...ADA])).toMatchObject({ was_on: false });
    await database.db.query(
      "INSERT INTO sessions (user_id, token_hash, expires_at) SELECT id, sha256('y'), now() + interval '1 day' FROM users",
    );
    expect(await json(['users', 'sign-out', ...ADA])).toMatchObject({ ended: 1 });
  });

  it('removes an account and its memberships, but not the last administrator of the service', async () => {
    expect(await json(['users', 'remove', ...ADA])).toEqual({ email: 'ada@example.com', memberships: 1 });
    expect(JSON.parse((await run(['users', 'list', '--json'])).stdout)).toEqual([]);
    expect(JSON.parse((await run(['members', 'list', '--json'])).stdout)).toEqual([]);
    expect((await run(['users', 'remove', ...ADA])).stderr).toContain('millrace users list');
    const last = ['--email', 'grace@example.com'];
    await json(['members', 'add', ...last, '--role', 'system_admin']);
    await json(['users', 'set-password', ...last, '--stdin'], 'analytical engine');
    const refused = await run(['users', 'remove', ...last, '--json']);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('last_admin');
  });
});
