import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOrganisation } from '../organisations/store.ts';
import { addMember, findMember, listMembers, removeMember, setMemberRole } from './store.ts';

const BY = { actor: 'operator' } as const;
let database: TestDatabase;
let organisationId: number;
beforeAll(async () => {
  database = await createTestDatabase();
  organisationId = (await createOrganisation(database.db, 'Acme', BY)).id;
});
afterAll(() => database.drop());

async function auditOf(memberId: number): Promise<string[]> {
  const rows = await database.db.query<{ action: string }>(
    'SELECT action FROM audit_log WHERE member_id = $1 ORDER BY id',
    [memberId],
  );
  return rows.map((row) => row.action);
}

describe('members', () => {
  it('adds a member once, whatever the case of the address, and changes the role the second time', async () => {
    const first = await addMember(database.db, organisationId, ' Ada@Example.com ', 'viewer', BY);
    const second = await addMember(database.db, organisationId, 'ada@example.COM', 'editor', BY);
    expect(second).toMatchObject({ id: first.id, email: 'ada@example.com', role: 'editor' });
    expect(await auditOf(first.id)).toEqual(['member.added', 'member.role_changed']);
  });

  it('writes no audit entry when nothing changes', async () => {
    const member = await addMember(database.db, organisationId, 'bea@example.com', 'viewer', BY);
    await addMember(database.db, organisationId, 'bea@example.com', 'viewer', BY);
    await setMemberRole(database.db, organisationId, 'bea@example.com', 'viewer', BY, {
      isVouchedFor: true,
    });
    expect(await auditOf(member.id)).toEqual(['member.added']);
  });

  it('creates a new member when a removed one comes back', async () => {
    const first = await addMember(database.db, organisationId, 'cy@example.com', 'org_admin', BY);
    await removeMember(database.db, organisationId, 'cy@example.com', BY);
    expect(await findMember(database.db, organisationId, 'cy@example.com')).toBeUndefined();
    const again = await addMember(database.db, organisationId, 'cy@example.com', 'viewer', BY);
    expect(again.id).not.toBe(first.id);
    expect(await auditOf(first.id)).toEqual(['member.added', 'member.removed']);
  });

  it('only finds members of one organisation', async () => {
    const other = await createOrganisation(database.db, 'Other', BY);
    await addMember(database.db, other.id, 'dan@example.com', 'viewer', BY);
    expect((await listMembers(database.db, other.id)).map((row) => row.email)).toEqual(['dan@example.com']);
    expect(await findMember(database.db, organisationId, 'dan@example.com')).toBeUndefined();
    await expect(removeMember(database.db, organisationId, 'dan@example.com', BY)).rejects.toMatchObject({
      code: 'member_not_found',
    });
  });

  it.each([
    ['no-address', 'viewer'],
    ['a b@example.com', 'viewer'],
    ['@', 'viewer'],
    ['eve@example.com', 'owner'],
    ['eve@example.com', 'toString'],
  ])('refuses %s as %s', async (email, role) => {
    await expect(addMember(database.db, organisationId, email, role, BY)).rejects.toMatchObject({
      code: 'invalid_value',
    });
  });

  it("can't change the role of someone who isn't a member", async () => {
    await expect(
      setMemberRole(database.db, organisationId, 'nobody@example.com', 'editor', BY, { isVouchedFor: true }),
    ).rejects.toMatchObject({ code: 'member_not_found' });
  });
});
