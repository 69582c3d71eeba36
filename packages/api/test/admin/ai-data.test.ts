import { createVectorService } from '@millrace/ports/vectors';
import type { TestPerson } from '@millrace/testing/admin';
import type { TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorkflow, startWithStranger } from './workflows-world.ts';

let service: TestService;
let editor: TestPerson;
let viewer: TestPerson;
let stranger: TestPerson;
beforeAll(async () => {
  ({ service, editor, viewer, stranger } = await startWithStranger());
});
afterAll(() => service.stop());

const at = (person: TestPerson, more: object = {}) => ({ params: { org: person.organisationId, ...more } });

/** Puts texts into a collection of the organisation of `person`. */
async function put(person: TestPerson, collection: string, items: readonly (readonly [string, string])[]) {
  const vectors = createVectorService({ db: service.deps.db, maxBytes: 0 });
  await vectors({ organisationId: person.organisationId }).put(
    collection,
    { model: 'small', dimension: 2 },
    items.map(([key, text]) => ({ key, text, metadata: { of: key }, vector: [3, 4] })),
  );
}

async function usage(person: TestPerson): Promise<number> {
  const { data } = await person.call('GET /orgs/:org/storage', at(person));
  return data.parts.find(({ part }) => part === 'data')?.bytes ?? -1;
}

async function actionsOf(person: TestPerson): Promise<readonly unknown[]> {
  const rows = await service.deps.db.query<{ action: string; details: string }>(
    "SELECT action, details FROM audit_log WHERE organisation_id = $1 AND action LIKE 'ai_data.%' ORDER BY id",
    [person.organisationId],
  );
  return rows.map(({ action, details }) => [action, JSON.parse(details)]);
}

describe('collections', () => {
  const list = async (person: TestPerson) =>
    (await person.call('GET /orgs/:org/vector-collections', at(person))).data.items;

  test('are listed with what they take up, whoever of the organisation asks', async () => {
    await put(editor, 'guides', [
      ['a', 'Reset your password'],
      ['b', 'Pay the invoice'],
    ]);
    const before = await usage(editor);
    await put(editor, 'guides', [['b', 'Pay']]);
    const items = await list(viewer);
    expect(items).toMatchObject([{ name: 'guides', model: 'small', dimension: 2, items: 2, index: 'small' }]);
    // The first letters of keys, texts, metadata and two numbers of each.
    const bytes = (text: string) => 1 + text.length + '{"of": "a"}'.length + 8;
    expect(items[0]?.bytes).toBe(bytes('Reset your password') + bytes('Pay'));
    expect(await usage(editor)).toBe(before - ' the invoice'.length);
    expect(await list(stranger)).toEqual([]);
  });

  test('show their items by key, page by page, and find them', async () => {
    const long = `${'x'.repeat(1_000)} needle`;
    await put(editor, 'paged', [
      ['k1', 'One'],
      ['k2', long],
      ['k3', 'Three'],
      ['K4', 'TWO NEEDLES'],
    ]);
    const read = async (query: object) =>
      (
        await viewer.call('GET /orgs/:org/vector-items', {
          ...at(viewer),
          query: { collection: 'paged', ...query },
        })
      ).data;
    const first = await read({ limit: 2 });
    expect(first.items.map(({ key }) => key)).toEqual(['K4', 'k1']);
    const second = await read({ limit: 2, cursor: first.next_cursor });
    expect(second.items).toMatchObject([
      { key: 'k2', is_cut: true, text: 'x'.repeat(1_000), metadata: { of: 'k2' } },
      { key: 'k3', is_cut: false, text: 'Three' },
    ]);
    const found = await read({ search: ' Needle ' });
    expect(found.items.map(({ key }) => key)).toEqual(['K4', 'k2']);
    expect(found.next_cursor).toBeNull();
    expect((await read({ search: 'needle', limit: 1 })).next_cursor).not.toBeNull();
    expect((await read({ search: 'nothing like it' })).items).toEqual([]);
    const query = { collection: 'paged', key: 'k2' };
    expect((await viewer.call('GET /orgs/:org/vector-items/text', { ...at(viewer), query })).data).toEqual({
      text: long,
    });
  });

  test('a search goes on behind items that it has looked through', async () => {
    const many = Array.from(
      { length: 1_200 },
      (_, index) => [`m${String(index).padStart(4, '0')}`, 'x'] as const,
    );
    await put(editor, 'many', [...many.slice(0, -1), ['m1199', 'needle']]);
    const { data } = await viewer.call('GET /orgs/:org/vector-items', {
      ...at(viewer),
      query: { collection: 'many', search: 'needle' },
    });
    expect(data.items.map(({ key }) => key)).toEqual(['m1199']);
  });

  test('are deleted by editors, with an entry in the audit log', async () => {
    await put(editor, 'old', [
      ['a', 'One'],
      ['b', 'Two'],
    ]);
    const before = await usage(editor);
    const body = { collection: 'old', key: 'a' };
    for (const person of [viewer]) {
      const refused = await person.call('POST /orgs/:org/vector-items/delete', { ...at(person), body });
      expect(refused.status).toBe(403);
      const all = await person.call('POST /orgs/:org/vector-collections/delete', {
        ...at(person),
        body: { name: 'old' },
      });
      expect(all.status).toBe(403);
    }
    const one = await editor.call('POST /orgs/:org/vector-items/delete', { ...at(editor), body });
    expect(one.data).toEqual({ deleted: 1 });
    expect((await list(viewer)).find(({ name }) => name === 'old')?.items).toBe(1);
    const rest = await editor.call('POST /orgs/:org/vector-collections/delete', {
      ...at(editor),
      body: { name: 'old' },
    });
    expect(rest.data).toEqual({ deleted: 1 });
    expect((await list(viewer)).find(({ name }) => name === 'old')).toBeUndefined();
    expect(await usage(editor)).toBe(before - 2 * (1 + 3 + '{"of": "a"}'.length + 8));
    expect(await actionsOf(editor)).toEqual([
      ['ai_data.item_deleted', { collection: 'old', key: 'a' }],
      ['ai_data.collection_deleted', { collection: 'old', items: 1 }],
    ]);
  });

  test("of another organisation don't exist", async () => {
    await put(editor, 'ours', [['a', 'One']]);
    const query = { collection: 'ours', key: 'a' };
    for (const { status } of [
      await stranger.call('GET /orgs/:org/vector-items', { ...at(stranger), query: { collection: 'ours' } }),
      await stranger.call('GET /orgs/:org/vector-items/text', { ...at(stranger), query }),
      await stranger.call('POST /orgs/:org/vector-items/delete', { ...at(stranger), body: query }),
      await stranger.call('POST /orgs/:org/vector-collections/delete', {
        ...at(stranger),
        body: { name: 'ours' },
      }),
    ]) {
      expect(status).toBe(404);
    }
    expect((await list(editor)).some(({ name }) => name === 'ours')).toBe(true);
  });
});

describe('what models remember', () => {
  async function remember(workflowId: number, key: string, minutes: number, said = 'Hello') {
    const turns = JSON.stringify([{ by: 'x', user: said, assistant: 'Hi' }]);
    await service.deps.db.query(
      `INSERT INTO ai_memories (workflow_id, organisation_id, key, turns, summary, bytes, updated_at, expires_at)
       VALUES ($1, $2, $3, $4, 'Before', 10, now() - $5 * interval '1 minute', now() + interval '1 day')`,
      [workflowId, editor.organisationId, key, turns, minutes],
    );
  }

  test('is listed for all workflows, found by key and workflow, and read', async () => {
    const { id } = await createWorkflow(editor);
    const { id: other } = await createWorkflow(editor);
    await service.deps.db.query("UPDATE workflows SET name = 'Help desk' WHERE id = $1", [other]);
    await remember(id, 'ada', 1);
    await remember(id, 'bob', 3);
    await remember(other, 'ada', 2, 'Where is my order?');
    const read = async (query: object) =>
      (await viewer.call('GET /orgs/:org/memories', { ...at(viewer), query })).data;
    const first = await read({ limit: 2 });
    expect(first.items.map(({ workflow, key }) => [workflow.id, key])).toEqual([
      [id, 'ada'],
      [other, 'ada'],
    ]);
    expect(first.items[1]).toMatchObject({
      workflow: { name: 'Help desk' },
      turns: 1,
      has_summary: true,
      bytes: 10,
    });
    const second = await read({ limit: 2, cursor: first.next_cursor });
    expect(second.items.map(({ key }) => key)).toEqual(['bob']);
    expect((await read({ search: 'HELP' })).items.map(({ workflow }) => workflow.id)).toEqual([other]);
    expect((await read({ search: 'bo' })).items.map(({ key }) => key)).toEqual(['bob']);
    const turns = await viewer.call('GET /orgs/:org/workflows/:id/memories/turns', {
      ...at(viewer, { id: other }),
      query: { key: 'ada' },
    } as never);
    expect(turns.data).toEqual({
      summary: 'Before',
      turns: [{ user: 'Where is my order?', assistant: 'Hi' }],
    });
    expect((await stranger.call('GET /orgs/:org/memories', at(stranger))).data.items).toEqual([]);
    const gone = await viewer.call('GET /orgs/:org/workflows/:id/memories/turns', {
      ...at(viewer, { id: other }),
      query: { key: 'nobody' },
    } as never);
    expect(gone.status).toBe(404);
  });
});
