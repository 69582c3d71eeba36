import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeLimits } from './limits.ts';
import { changeShare, createOrganisation, findOrganisation, listOrganisations } from './store.ts';

const BY = { actor: 'operator' } as const;
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe('organisations', () => {
  it('creates one with its audit entry, and finds it by id and by name', async () => {
    const row = await createOrganisation(database.db, '  Acme & Co  ', BY);
    expect(row.name).toBe('Acme & Co');
    expect(await findOrganisation(database.db, String(row.id))).toEqual(row);
    expect(await findOrganisation(database.db, 'Acme & Co')).toEqual(row);
    const audit = await database.db.query('SELECT action, actor FROM audit_log WHERE organisation_id = $1', [
      row.id,
    ]);
    expect(audit).toEqual([{ action: 'organisation.created', actor: 'operator' }]);
  });

  it('reports a name that is taken, and leaves nothing behind', async () => {
    await createOrganisation(database.db, 'Twice', BY);
    const before = await listOrganisations(database.db);
    await expect(createOrganisation(database.db, 'Twice', BY)).rejects.toMatchObject({
      code: 'organisation_exists',
      message: expect.stringContaining('"Twice"'),
    });
    expect(await listOrganisations(database.db)).toEqual(before);
  });

  it('creates one of two at the same moment', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => createOrganisation(database.db, 'Racing', BY)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it.each(['', '   ', '42', 'x'.repeat(256)])('refuses the name %j', async (name) => {
    await expect(createOrganisation(database.db, name, BY)).rejects.toMatchObject({ code: 'invalid_value' });
  });

  it('changes its share, with the values before and after in the audit log', async () => {
    const { id } = await createOrganisation(database.db, 'Shared', BY);
    expect(await changeShare(database.db, id, { weight: 5 }, BY)).toMatchObject({ slot_weight: 5 });
    const changed = await changeShare(database.db, id, { capPercent: 20 }, BY);
    expect(changed).toMatchObject({ id, slot_weight: 5, slot_cap_percent: 20 });
    expect(await findOrganisation(database.db, 'Shared')).toEqual(changed);
    const audit = await database.db.query<{ details: string }>(
      "SELECT details::text FROM audit_log WHERE organisation_id = $1 AND action = 'organisation.share_changed' ORDER BY id",
      [id],
    );
    expect(audit.map(({ details }) => JSON.parse(details))).toEqual([
      { before: { weight: 1, cap_percent: 100 }, after: { weight: 5, cap_percent: 100 } },
      { before: { weight: 5, cap_percent: 100 }, after: { weight: 5, cap_percent: 20 } },
    ]);
  });

  it.each([{ weight: 0 }, { weight: 101 }, { weight: 1.5 }, { capPercent: 0 }, { capPercent: 101 }])(
    'refuses the share %j',
    async (share) => {
      const { id } = await findOrganisation(database.db, 'Shared');
      await expect(changeShare(database.db, id, share, BY)).rejects.toMatchObject({ code: 'invalid_value' });
    },
  );

  it('changes what it may queue and store, with the values before and after in the audit log', async () => {
    const { id } = await createOrganisation(database.db, 'Limited', BY);
    await changeLimits(database.db, id, { queued: 5, dataBytes: 0 }, BY);
    expect(await changeLimits(database.db, id, { queued: null, executionsBytes: 2 ** 40 }, BY)).toEqual({
      ...{ id, name: 'Limited', queue_limit: null },
      ...{ executions_storage_bytes: 2 ** 40, data_storage_bytes: 0 },
    });
    const audit = await database.db.query<{ details: string }>(
      "SELECT details::text FROM audit_log WHERE organisation_id = $1 AND action = 'organisation.limits_changed' ORDER BY id",
      [id],
    );
    const none = { queue_limit: null, executions_storage_bytes: null, data_storage_bytes: null };
    const first = { ...none, queue_limit: 5, data_storage_bytes: 0 };
    expect(audit.map(({ details }) => JSON.parse(details))).toEqual([
      { before: none, after: first },
      { before: first, after: { ...first, queue_limit: null, executions_storage_bytes: 2 ** 40 } },
    ]);
    for (const change of [{ queued: -1 }, { queued: 1.5 }, { dataBytes: 2 ** 60 }, { queued: 1_000_001 }]) {
      await expect(changeLimits(database.db, id, change, BY)).rejects.toMatchObject({
        code: 'invalid_value',
      });
    }
    await expect(changeLimits(database.db, 999_999, {}, BY)).rejects.toMatchObject({
      code: 'organisation_not_found',
    });
  });

  it('accepts 255 characters of any kind', async () => {
    expect((await createOrganisation(database.db, '𝄞'.repeat(255), BY)).name).toHaveLength(510);
  });

  it.each(['nobody', '0', '999999999', '99999999999999999999', ''])('does not find %j', async (text) => {
    await expect(findOrganisation(database.db, text)).rejects.toMatchObject({
      code: 'organisation_not_found',
    });
  });
});
