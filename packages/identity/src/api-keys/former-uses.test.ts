import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOrganisation } from '../organisations/store.ts';
import { createFormerUseGate, listFormerUses, recordFormerUses } from './former-uses.ts';
import { issueKey } from './keys.ts';

let database: TestDatabase;
let keyId: number;
beforeAll(async () => {
  database = await createTestDatabase();
  const { id: organisationId } = await createOrganisation(database.db, 'uses', { actor: 'operator' });
  const issue = {
    organisationId,
    name: 'old',
    scopes: ['workflows:read'],
    holder: null,
    expiresAt: null,
  } as const;
  keyId = (await issueKey(database.db, issue, { actor: 'operator' })).row.id;
});
afterAll(() => database.drop());

const addresses = async () =>
  (await listFormerUses(database.db, [keyId])).map(({ source_ip: ip }) => ip).toSorted();

it('records the first use from an address, then at most one a minute', () => {
  let now = 0;
  const isDue = createFormerUseGate(() => now);
  const one = { id: 1, sourceIp: '192.0.2.1' };
  expect([
    isDue(one),
    isDue(one),
    isDue({ ...one, sourceIp: '192.0.2.2' }),
    isDue({ ...one, id: 2 }),
  ]).toEqual([true, false, true, true]);
  now = 59_999;
  expect(isDue(one)).toBe(false);
  now = 60_000;
  expect(isDue(one)).toBe(true);
});

it('keeps one row per address, most recent first', async () => {
  const use = (sourceIp: string) => ({ id: keyId, sourceIp });
  await recordFormerUses(database.db, [use('192.0.2.1'), use('192.0.2.2'), use('192.0.2.1')]);
  await database.db.query("UPDATE former_key_uses SET last_used_at = now() - interval '1 hour'");
  await recordFormerUses(database.db, [use('192.0.2.2')]);
  const rows = await listFormerUses(database.db, [keyId]);
  expect(rows.map(({ source_ip: ip }) => ip)).toEqual(['192.0.2.2', '192.0.2.1']);
});

it('keeps at most fifty addresses per key, and keeps updating those', async () => {
  for (let count = 0; count < 60; count += 1) {
    await recordFormerUses(database.db, [{ id: keyId, sourceIp: `198.51.100.${count}` }]);
  }
  const kept = await addresses();
  expect(kept).toHaveLength(50);
  await database.db.query("UPDATE former_key_uses SET last_used_at = now() - interval '1 hour'");
  await recordFormerUses(database.db, [{ id: keyId, sourceIp: '192.0.2.1' }]);
  expect((await listFormerUses(database.db, [keyId]))[0]?.source_ip).toBe('192.0.2.1');
});
