import { randomUUID } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { fingerprintOf } from '@millrace/service/idempotency/fingerprint';
import {
  createIdempotentRunner,
  type IdempotencyKey,
  type StoredResponse,
} from '@millrace/service/idempotency/store';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, expect, test } from 'vitest';

let database: TestDatabase;
let organisationId: number;
beforeAll(async () => {
  database = await createTestDatabase();
  organisationId = (await createOrganisation(database.db, 'twins', { actor: 'operator' })).id;
});
afterAll(() => database.drop());

function keyOf(body: { readonly n: number }): IdempotencyKey {
  const { familyId, key } = { familyId: randomUUID(), key: randomUUID() };
  return { organisationId, familyId, route: 'POST /x', key, fingerprint: fingerprintOf(body) };
}

const addMember = async (tx: Queryable): Promise<StoredResponse> => {
  const email = `${randomUUID()}@example.org`;
  await tx.query("INSERT INTO members (organisation_id, email, role) VALUES ($1, $2, 'viewer')", [
    organisationId,
    email,
  ]);
  return { status: 201, location: null, body: JSON.stringify({ email }) };
};

async function countMembers(): Promise<number> {
  const [row] = await database.db.query<{ count: number }>('SELECT count(*)::integer AS count FROM members');
  return row?.count ?? -1;
}

test('concurrent requests in several processes do the work once and get one response', async () => {
  const before = await countMembers();
  // Each runner only knows its own concurrent requests, as a process does.
  const runners = Array.from({ length: 5 }, () => createIdempotentRunner(database.db));
  const claim = keyOf({ n: 1 });
  const results = await Promise.all(
    runners.flatMap((run) => Array.from({ length: 10 }, () => run(claim, addMember))),
  );
  expect(new Set(results.map(({ response }) => response.body)).size).toBe(1);
  expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(await countMembers()).toBe(before + 1);
});

test('a concurrent request with another body is refused, in either order', async () => {
  const [one, two] = [createIdempotentRunner(database.db), createIdempotentRunner(database.db)];
  const claim = keyOf({ n: 1 });
  const other = { ...claim, fingerprint: fingerprintOf({ n: 2 }) };
  const results = await Promise.allSettled([one(claim, addMember), two(other, addMember)]);
  const refused = results.filter((result) => result.status === 'rejected');
  expect(refused).toEqual([
    { status: 'rejected', reason: expect.objectContaining({ code: 'idempotency_key_reused' }) },
  ]);
});

test('failed work stores nothing, so the next concurrent request may try', async () => {
  const run = createIdempotentRunner(database.db);
  const claim = keyOf({ n: 1 });
  const before = await countMembers();
  const fail = async (tx: Queryable): Promise<StoredResponse> => {
    await addMember(tx);
    throw new Error('failed on purpose');
  };
  const [first, second] = await Promise.allSettled([run(claim, fail), run(claim, addMember)]);
  expect([first?.status, second?.status]).toEqual(['rejected', 'fulfilled']);
  expect(await countMembers()).toBe(before + 1);
});

test('a fingerprint depends on meaning, not on notation', () => {
  expect(fingerprintOf(undefined)).toEqual(fingerprintOf({}));
  expect(fingerprintOf({ a: 1, b: 2 })).toEqual(fingerprintOf({ b: 2, a: 1 }));
  expect(fingerprintOf({ a: 1 })).not.toEqual(fingerprintOf({ a: '1' }));
});
