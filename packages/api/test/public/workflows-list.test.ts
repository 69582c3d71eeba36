import { UNFINISHED_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

async function createSome(key: TestKey, names: readonly string[]): Promise<number[]> {
  const ids: number[] = [];
  for (const name of names) {
    const { json } = await service.api('POST', '/workflows', {
      key,
      body: { name, flow_data: UNFINISHED_FLOW },
    });
    ids.push(json.id);
  }
  return ids;
}

async function idsOf(key: TestKey, query: string): Promise<number[]> {
  const { json } = await service.api('GET', `/workflows${query}`, { key });
  return json.data.map((item) => item.id);
}

describe('200', () => {
  test('an organisation without workflows gets an empty page', async () => {
    const key = await service.createKey();
    const { status, json } = await service.api('GET', '/workflows', { key });
    expect(status).toBe(200);
    expect(json).toEqual({ data: [], pagination: { next_cursor: null, has_more: false, limit: 20 } });
  });

  test('items have the fields of the contract and no others, newest first', async () => {
    const key = await service.createKey();
    const [first, second] = await createSome(key, ['a', 'b']);
    const { json } = await service.api('GET', '/workflows', { key });
    expect(json.data.map((item) => item.id)).toEqual([second, first]);
    expect(Object.keys(json.data[0] ?? {}).sort()).toEqual(
      ['created_at', 'description', 'id', 'is_test_mode', 'name', 'status', 'tags', 'updated_at'].sort(),
    );
  });

  test('pages follow each other without gaps or repetition while workflows are created', async () => {
    const key = await service.createKey();
    const ids = await createSome(key, ['a', 'b', 'c', 'd', 'e']);
    const seen: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = cursor === '' ? '?limit=2' : `?limit=2&cursor=${cursor}`;
      const { json } = await service.api('GET', `/workflows${query}`, { key });
      seen.push(...json.data.map((item) => item.id));
      expect(json.pagination.has_more).toBe(json.pagination.next_cursor !== null);
      cursor = json.pagination.next_cursor;
      await createSome(key, ['later']);
    }
    expect(seen).toEqual(ids.toReversed());
  });

  test('a page that ends exactly at the last workflow has no next page', async () => {
    const key = await service.createKey();
    await createSome(key, ['a', 'b']);
    const { json } = await service.api('GET', '/workflows?limit=2', { key });
    expect(json.pagination).toEqual({ next_cursor: null, has_more: false, limit: 2 });
  });

  test('status filters; without it archived workflows are listed too', async () => {
    const key = await service.createKey();
    const [kept, archived] = await createSome(key, ['kept', 'archived']);
    await service.api('DELETE', `/workflows/${archived}`, { key });
    expect(await idsOf(key, '?status=archived')).toEqual([archived]);
    expect(await idsOf(key, '?status=draft')).toEqual([kept]);
    expect(await idsOf(key, '?status=active')).toEqual([]);
    expect(await idsOf(key, '')).toEqual([archived, kept]);
  });

  test('workflows of other organisations are never listed', async () => {
    const [mine, theirs] = [await service.createKey(), await service.createKey()];
    await createSome(theirs, ['theirs']);
    expect(await idsOf(mine, '')).toEqual([]);
  });

  test.each(['1', '100'])('limit=%s is accepted', async (limit) => {
    const key = await service.createKey();
    const { json } = await service.api('GET', `/workflows?limit=${limit}`, { key });
    expect(json.pagination.limit).toBe(Number(limit));
  });
});

describe('422', () => {
  test.each([
    ['limit=0', 'limit', 'out_of_range'],
    ['limit=101', 'limit', 'out_of_range'],
    ['limit=1.5', 'limit', 'invalid_type'],
    ['limit=1e1', 'limit', 'invalid_type'],
    ['limit=', 'limit', 'invalid_type'],
    ['limit=10&limit=20', 'limit', 'invalid_type'],
    ['status=running', 'status', 'invalid_value'],
    ['status=', 'status', 'invalid_value'],
    ['unknown=1', 'unknown', 'unknown_field'],
    ['api_key=x', 'api_key', 'unknown_field'],
    ['cursor=', 'cursor', 'invalid_cursor'],
    ['cursor=abc', 'cursor', 'invalid_cursor'],
    ['cursor=AAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAA', 'cursor', 'invalid_cursor'],
  ])('?%s is refused on %s', async (query, field, code) => {
    const key = await service.createKey();
    const { status, json } = await service.api('GET', `/workflows?${query}`, { key });
    expect(status).toBe(422);
    expect(json.errors).toEqual([{ pointer: `/${field}`, field, code, message: expect.any(String) }]);
  });

  test('every mistake is reported at once', async () => {
    const key = await service.createKey();
    const { json } = await service.api('GET', '/workflows?limit=0&status=x&y=1', { key });
    expect(json.errors.map((error) => error.field).sort()).toEqual(['limit', 'status', 'y']);
  });

  test('a cursor is only valid for its organisation, list and filter, and unchanged', async () => {
    const [key, other] = [await service.createKey(), await service.createKey()];
    const [id] = await createSome(key, ['a', 'b']);
    const { json } = await service.api('GET', '/workflows?limit=1', { key });
    const cursor = json.pagination.next_cursor ?? '';
    const bytes = Buffer.from(cursor, 'base64url');
    const flipped = [...bytes.keys()].map((index) => {
      const copy = Buffer.from(bytes);
      copy[index] = (copy[index] ?? 0) ^ 1;
      return copy.toString('base64url');
    });
    const refused = [
      ...flipped.map((tampered) => [key, `/workflows?cursor=${tampered}`] as const),
      [other, `/workflows?cursor=${cursor}`] as const,
      [key, `/workflows?cursor=${cursor}&status=draft`] as const,
      [key, `/workflows/${id}/versions?cursor=${cursor}`] as const,
      [key, `/workflows?cursor=${cursor}=`] as const,
    ];
    for (const [who, path] of refused) {
      const answer = await service.api('GET', path, { key: who });
      expect([path, answer.status, answer.json.errors?.[0]?.field]).toEqual([path, 422, 'cursor']);
    }
    expect(await idsOf(key, `?limit=50&cursor=${cursor}`)).toEqual([id]);
  });
});
