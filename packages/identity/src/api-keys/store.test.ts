import { SCOPES } from '@millrace/admin-api';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addMember, removeMember, setMemberRole } from '../members/store.ts';
import { createOrganisation } from '../organisations/store.ts';
import { hashSecret, parseApiKey } from './key.ts';
import { type IssuedKey, issueKey, revokeKey, rotateKey, unlockKey } from './keys.ts';
import {
  findKeysForAuthentication,
  type KeyForAuthentication,
  listKeys,
  recordAuthenticationFailures,
  recordSuccesses,
} from './store.ts';

const BY = { actor: 'operator' } as const;
let database: TestDatabase;
let organisationId: number;
beforeAll(async () => {
  database = await createTestDatabase({ lanes: 16 });
  organisationId = (await createOrganisation(database.db, 'Acme', BY)).id;
});
afterAll(() => database.drop());

function issue(more: Partial<Parameters<typeof issueKey>[1]> = {}): Promise<IssuedKey> {
  return issueKey(database.db, { organisationId, name: 'test', scopes: SCOPES, ...more }, BY);
}

async function lookUp(keyId: string): Promise<KeyForAuthentication> {
  const [key] = await findKeysForAuthentication(database.db, [keyId]);
  if (key === undefined) throw new Error(`no key ${keyId}`);
  return key;
}

async function auditOf(id: number): Promise<string[]> {
  const rows = await database.db.query<{ action: string }>(
    'SELECT action FROM audit_log WHERE api_key_id = $1 ORDER BY id',
    [id],
  );
  return rows.map((row) => row.action);
}

/** Moves a key's history back in time, as if that much time had passed since. */
async function age(id: number, interval: string): Promise<void> {
  await database.db.query(
    `UPDATE api_keys SET created_at = created_at - $2::interval, expires_at = expires_at - $2::interval,
       rotated_at = rotated_at - $2::interval, last_used_at = last_used_at - $2::interval WHERE id = $1`,
    [id, interval],
  );
}

function inHours(hours: number): Date {
  return new Date(Date.now() + hours * 3_600_000);
}

function failures(id: number, count: number) {
  return Array.from({ length: count }, () => ({ id, sourceIp: '192.0.2.7', requestId: 'r' }));
}

describe('issueKey', () => {
  it('stores only the hash of the secret', async () => {
    const { text, row } = await issue({ name: '  nightly import ' });
    const parsed = parseApiKey(text);
    const key = await lookUp(row.key_id);
    expect(row).toMatchObject({
      name: 'nightly import',
      state: 'valid',
      issuer: 'operator',
      expires_at: null,
    });
    expect(key).toMatchObject({
      id: row.id,
      organisation_id: organisationId,
      state: 'valid',
      success_due: true,
    });
    expect(Buffer.compare(key.secret_hash, hashSecret(parsed?.secret ?? ''))).toBe(0);
    const everything = await database.db.query(
      'SELECT api_keys::text AS text FROM api_keys WHERE id = $1 UNION ALL SELECT details::text FROM audit_log WHERE api_key_id = $1',
      [row.id],
    );
    expect(JSON.stringify(everything)).not.toContain(parsed?.secret);
    expect(await auditOf(row.id)).toEqual(['api_key.issued']);
  });

  it.each([
    ['an empty name', { name: ' ' }],
    ['a long name', { name: 'x'.repeat(256) }],
    ['no scope', { scopes: [] }],
    ['an unknown scope', { scopes: ['workflows:read', 'everything'] }],
    ['an expiry in the past', { expiresAt: new Date(0) }],
  ])('refuses %s and stores nothing', async (_what, more) => {
    const before = await listKeys(database.db, organisationId);
    await expect(issue(more)).rejects.toMatchObject({ code: 'invalid_value' });
    expect(await listKeys(database.db, organisationId)).toEqual(before);
  });

  it('keeps each scope once, in the order of the contract', async () => {
    const { row } = await issue({ scopes: ['executions:read', 'workflows:read', 'executions:read'] });
    expect(row.scopes).toEqual(['workflows:read', 'executions:read']);
  });
});

describe('findKeysForAuthentication', () => {
  it('returns many at once and omits unknown ones', async () => {
    const issued = await Promise.all([issue(), issue(), issue()]);
    const ids = issued.map(({ row }) => row.key_id);
    const found = await findKeysForAuthentication(database.db, [...ids, 'AAAAAAAAAAAA']);
    expect(found.map((key) => key.key_id).sort()).toEqual([...ids].sort());
  });

  it('reads the current role of the issuing member', async () => {
    const email = 'ada@example.com';
    const member = await addMember(database.db, organisationId, email, 'org_admin', BY);
    const { row } = await issue({ holder: { memberId: member.id, userId: null } });
    expect((await lookUp(row.key_id)).issuer).toBe('org_admin');
    await setMemberRole(database.db, organisationId, email, 'viewer', BY, { isVouchedFor: true });
    expect((await lookUp(row.key_id)).issuer).toBe('viewer');
    await removeMember(database.db, organisationId, email, BY);
    expect((await lookUp(row.key_id)).issuer).toBe('removed');
    await addMember(database.db, organisationId, email, 'org_admin', BY);
    expect((await lookUp(row.key_id)).issuer).toBe('removed');
  });

  it('reports a key as expired from the exact moment of its expiry', async () => {
    const { row } = await issue({ expiresAt: inHours(1) });
    await age(row.id, '59 minutes 50 seconds');
    expect((await lookUp(row.key_id)).state).toBe('valid');
    await age(row.id, '10 seconds');
    expect((await lookUp(row.key_id)).state).toBe('expired');
  });

  it('reports revoked before expired before locked', async () => {
    const { row } = await issue({ expiresAt: inHours(1) });
    await recordAuthenticationFailures(database.db, failures(row.id, 10));
    expect((await lookUp(row.key_id)).state).toBe('locked');
    await age(row.id, '2 hours');
    expect((await lookUp(row.key_id)).state).toBe('expired');
    await revokeKey(database.db, { id: row.id }, BY);
    expect((await lookUp(row.key_id)).state).toBe('revoked');
  });
});

describe('rotateKey', () => {
  it('issues a successor with the same name, scopes and family, owned by the rotator, and both work', async () => {
    const member = await addMember(database.db, organisationId, 'rot@example.com', 'editor', BY);
    const former = await addMember(database.db, organisationId, 'former@example.com', 'org_admin', BY);
    const old = await issue({
      name: 'rotating',
      scopes: ['executions:read'],
      holder: { memberId: former.id, userId: null },
    });
    const rotator = { actor: 'member', memberId: member.id } as const;
    const { row, text, predecessor } = await rotateKey(database.db, { keyId: old.row.key_id }, rotator);
    expect(row).toMatchObject({
      name: 'rotating',
      scopes: ['executions:read'],
      family_id: old.row.family_id,
      issuer: 'editor',
      issued_by_email: 'rot@example.com',
      expires_at: null,
    });
    expect(predecessor).toMatchObject({ issuer: 'org_admin', issued_by_email: 'former@example.com' });
    expect(parseApiKey(text)?.keyId).toBe(row.key_id);
    expect(row.key_id).not.toBe(old.row.key_id);
    expect(predecessor.valid_until?.getTime()).toBe((predecessor.rotated_at?.getTime() ?? 0) + 86_400_000);
    expect((await lookUp(old.row.key_id)).state).toBe('valid');
    expect((await lookUp(row.key_id)).state).toBe('valid');
    expect(await auditOf(old.row.id)).toEqual(['api_key.issued', 'api_key.rotated']);
  });

  it('leaves the old key working at 23:59:50 and not at 24:00:00', async () => {
    const old = await issue();
    await rotateKey(database.db, { id: old.row.id }, BY);
    await age(old.row.id, '23 hours 59 minutes 50 seconds');
    expect((await lookUp(old.row.key_id)).state).toBe('valid');
    await age(old.row.id, '10 seconds');
    expect((await lookUp(old.row.key_id)).state).toBe('expired');
  });

  it('never extends the old key beyond its own expiry', async () => {
    const expiresAt = inHours(2);
    const old = await issue({ expiresAt });
    const { predecessor } = await rotateKey(database.db, { id: old.row.id }, BY);
    expect(predecessor.valid_until).toEqual(expiresAt);
    await age(old.row.id, '2 hours');
    expect((await lookUp(old.row.key_id)).state).toBe('expired');
  });

  it('assigns a key rotated on the command line to the operator, or to a named member', async () => {
    const member = await addMember(database.db, organisationId, 'named@example.com', 'viewer', BY);
    const holder = { memberId: member.id, userId: null };
    const first = await issue({ holder });
    const second = await rotateKey(database.db, { id: first.row.id }, BY);
    expect(second.row).toMatchObject({ issuer: 'operator', issued_by_email: null });
    const third = await rotateKey(database.db, { id: second.row.id }, BY, { holder });
    expect(third.row).toMatchObject({ issuer: 'viewer', issued_by_email: 'named@example.com' });
  });

  it('refuses a second rotation and names the successor', async () => {
    const old = await issue();
    const { row } = await rotateKey(database.db, { id: old.row.id }, BY);
    await expect(rotateKey(database.db, { id: old.row.id }, BY)).rejects.toMatchObject({
      code: 'key_rotated',
      message: expect.stringContaining(`key ${row.id}, mr_${row.key_id}_...${row.last_four}`),
    });
  });

  it('gives the successor the same lifetime as the old key, counted from now', async () => {
    const old = await issue({ expiresAt: inHours(90 * 24) });
    await age(old.row.id, '89 days');
    const { row } = await rotateKey(database.db, { id: old.row.id }, BY);
    const hours = ((row.expires_at?.getTime() ?? 0) - row.created_at.getTime()) / 3_600_000;
    expect(hours).toBeCloseTo(90 * 24, 1);
  });

  it('rotates a locked key into one that is not locked', async () => {
    const old = await issue();
    await recordAuthenticationFailures(database.db, failures(old.row.id, 10));
    const { row } = await rotateKey(database.db, { id: old.row.id }, BY);
    expect((await lookUp(old.row.key_id)).state).toBe('locked');
    expect((await lookUp(row.key_id)).state).toBe('valid');
  });

  it("refuses a key that has ended or doesn't exist", async () => {
    const revoked = await issue();
    await revokeKey(database.db, { id: revoked.row.id }, BY);
    await expect(rotateKey(database.db, { id: revoked.row.id }, BY)).rejects.toMatchObject({
      code: 'key_revoked',
    });
    const expired = await issue({ expiresAt: inHours(1) });
    await age(expired.row.id, '1 hour');
    await expect(rotateKey(database.db, { id: expired.row.id }, BY)).rejects.toMatchObject({
      code: 'key_expired',
    });
    await expect(rotateKey(database.db, { id: 999_999 }, BY)).rejects.toMatchObject({
      code: 'key_not_found',
    });
    await expect(rotateKey(database.db, { keyId: 'AAAAAAAAAAAA' }, BY)).rejects.toMatchObject({
      code: 'key_not_found',
    });
  });
});

describe('revokeKey', () => {
  it('ends a key once, with one audit entry', async () => {
    const { row } = await issue();
    const first = await revokeKey(database.db, { id: row.id }, BY);
    const again = await revokeKey(database.db, { id: row.id }, BY);
    expect(again.revoked_at).toEqual(first.revoked_at);
    expect(await auditOf(row.id)).toEqual(['api_key.issued', 'api_key.revoked']);
  });
});

describe('recordAuthenticationFailures', () => {
  it('counts 200 parallel wrong secrets exactly and locks once, with one audit entry', async () => {
    const { row } = await issue();
    const locks = await Promise.all(
      Array.from({ length: 200 }, () => recordAuthenticationFailures(database.db, failures(row.id, 1))),
    );
    const [key] = await database.db.query<{ consecutive_failures: number }>(
      'SELECT consecutive_failures FROM api_keys WHERE id = $1',
      [row.id],
    );
    expect(key?.consecutive_failures).toBe(200);
    expect(locks.flat()).toEqual([row.id]);
    expect(await auditOf(row.id)).toEqual(['api_key.issued', 'api_key.locked']);
    expect((await lookUp(row.key_id)).state).toBe('locked');
  });

  it('locks at the tenth failure, not at the ninth', async () => {
    const { row } = await issue();
    expect(await recordAuthenticationFailures(database.db, failures(row.id, 9))).toEqual([]);
    expect((await lookUp(row.key_id)).state).toBe('valid');
    expect(await recordAuthenticationFailures(database.db, failures(row.id, 1))).toEqual([row.id]);
    expect((await lookUp(row.key_id)).state).toBe('locked');
  });

  it('locks several keys of one batch, each from its own count', async () => {
    const keys = await Promise.all([issue(), issue(), issue()]);
    const [a, b, c] = keys.map(({ row }) => row.id) as [number, number, number];
    await recordAuthenticationFailures(database.db, failures(a, 5));
    const locked = await recordAuthenticationFailures(database.db, [
      ...failures(a, 5),
      ...failures(b, 12),
      ...failures(c, 3),
    ]);
    expect(new Set(locked)).toEqual(new Set([a, b]));
    expect(locked).toHaveLength(2);
  });

  it("doesn't deadlock when batches contain the same keys in different orders", async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => issue()));
    const ids = keys.map(({ row }) => row.id);
    const batches = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? ids : ids.toReversed()));
    await Promise.all(
      batches.map((batch) =>
        recordAuthenticationFailures(
          database.db,
          batch.flatMap((id) => failures(id, 1)),
        ),
      ),
    );
    const rows = await database.db.query<{ consecutive_failures: number }>(
      'SELECT consecutive_failures FROM api_keys WHERE id = ANY ($1::bigint[])',
      [ids],
    );
    expect(rows.map((row) => row.consecutive_failures)).toEqual(ids.map(() => 40));
  });

  it('records address and request of the tenth failure, never mixed with another', async () => {
    const { row } = await issue();
    await recordAuthenticationFailures(database.db, failures(row.id, 7));
    // By text the greatest address and the greatest request belong to different failures, and neither is the tenth.
    const batch = ['9 a', '1 z', '5 m', '2 b'].map((text) => {
      const [host, request] = text.split(' ');
      return { id: row.id, sourceIp: `192.0.2.${host}`, requestId: `req_${request}` };
    });
    await recordAuthenticationFailures(database.db, batch);
    expect(
      await database.db.query(
        "SELECT source_ip, request_id FROM audit_log WHERE api_key_id = $1 AND action = 'api_key.locked'",
        [row.id],
      ),
    ).toEqual([{ source_ip: '192.0.2.5', request_id: 'req_m' }]);
  });

  it('records where the locking failure came from', async () => {
    const { row } = await issue();
    await recordAuthenticationFailures(database.db, failures(row.id, 10));
    const rows = await database.db.query(
      "SELECT source_ip, request_id, actor, organisation_id FROM audit_log WHERE api_key_id = $1 AND action = 'api_key.locked'",
      [row.id],
    );
    expect(rows).toEqual([
      { source_ip: '192.0.2.7', request_id: 'r', actor: 'service', organisation_id: organisationId },
    ]);
  });

  it('is reset by unlocking, which is recorded once', async () => {
    const { row } = await issue();
    await recordAuthenticationFailures(database.db, failures(row.id, 15));
    expect(await unlockKey(database.db, { id: row.id }, BY)).toMatchObject({
      state: 'valid',
      consecutive_failures: 0,
    });
    await unlockKey(database.db, { id: row.id }, BY);
    expect(await auditOf(row.id)).toEqual(['api_key.issued', 'api_key.locked', 'api_key.unlocked']);
    expect(await recordAuthenticationFailures(database.db, failures(row.id, 9))).toEqual([]);
    expect(await recordAuthenticationFailures(database.db, failures(row.id, 1))).toEqual([row.id]);
  });
});

describe('recordSuccesses', () => {
  it('ends a series of failures and records the use', async () => {
    const { row } = await issue();
    await recordAuthenticationFailures(database.db, failures(row.id, 9));
    await recordSuccesses(database.db, [{ id: row.id, sourceIp: '198.51.100.1' }]);
    const [key] = await database.db.query(
      'SELECT consecutive_failures, last_used_ip FROM api_keys WHERE id = $1',
      [row.id],
    );
    expect(key).toEqual({ consecutive_failures: 0, last_used_ip: '198.51.100.1' });
    expect(await recordAuthenticationFailures(database.db, failures(row.id, 9))).toEqual([]);
  });

  it('writes at most once a minute while there are no failures', async () => {
    const { row } = await issue();
    const usedAt = async () =>
      (await listKeys(database.db, organisationId)).find(({ id }) => id === row.id)?.last_used_at?.getTime();
    await recordSuccesses(database.db, [{ id: row.id, sourceIp: null }]);
    const first = await usedAt();
    await recordSuccesses(database.db, [{ id: row.id, sourceIp: null }]);
    expect(await usedAt()).toBe(first);
    expect((await lookUp(row.key_id)).success_due).toBe(false);
    await age(row.id, '1 minute');
    expect((await lookUp(row.key_id)).success_due).toBe(true);
    await recordSuccesses(database.db, [{ id: row.id, sourceIp: null }]);
    expect(await usedAt()).toBeGreaterThanOrEqual(first ?? Number.POSITIVE_INFINITY);
    expect((await lookUp(row.key_id)).success_due).toBe(false);
  });

  it("doesn't undo an earlier lock", async () => {
    const { row } = await issue();
    await recordAuthenticationFailures(database.db, failures(row.id, 10));
    await recordSuccesses(database.db, [{ id: row.id, sourceIp: null }]);
    expect((await lookUp(row.key_id)).state).toBe('locked');
  });
});
