import { type JsonObject, stringifyJson } from '@millrace/engine';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Imported, openWorld, outputOf, statusesOf, type World } from './world.ts';

let world: World;
let shipments: Imported;

beforeAll(async () => {
  world = await openWorld();
  world.outside.on('POST /hooks/team', { body: 'ok' });
  shipments = await world.importExample('webhook-fan-in', {
    digest_every: 3,
    chat_credential: await world.addChat('team'),
  });
});
afterAll(() => world.close());
beforeEach(() => world.outside.forget());

function call(change: JsonObject) {
  const event = shipments.sample('order-shipped.json') as JsonObject;
  return shipments.call(stringifyJson({ ...event, ...change }));
}

async function deliver(change: JsonObject) {
  const receipt = await call(change);
  expect(receipt.status, receipt.text).toBe(202);
  return world.finished(receipt.json.execution_id);
}

describe('webhook-fan-in', () => {
  it('counts per shop, and calls the digest at every third event', async () => {
    const first = await deliver({ id: 'a1', shop: 'lisbon' });
    await deliver({ id: 'b1', shop: 'porto' });
    await deliver({ id: 'a2', shop: 'Lisbon' });
    const third = await deliver({ id: 'a3', shop: 'lisbon', order: 'O-3' });

    expect(outputOf(first, 'count')).toMatchObject({ key: 'shipments:lisbon', value: 1 });
    expect(statusesOf(first)).toMatchObject({ is_due: 'success', digest: 'skipped' });
    expect(outputOf(third, 'count')).toMatchObject({ value: 3 });
    expect(new Set(Object.values(statusesOf(third)))).toEqual(new Set(['success']));
    expect(world.outside.received.map(({ body }) => body)).toMatchObject([
      { attachments: [{ text: 'The shop in lisbon has shipped 3 orders; the last one was O-3.' }] },
    ]);
  });

  it('the digest is an execution of its own, linked from both sides', async () => {
    for (const id of ['f1', 'f2']) await deliver({ id, shop: 'faro' });
    const parent = await deliver({ id: 'f3', shop: 'faro' });
    const [companionId = 0] = shipments.companionIds;
    const [childId = 0] = await world.executionsOf(companionId);
    const child = await world.finished(childId);

    expect(outputOf(parent, 'digest')).toMatchObject({ execution_id: childId, status: 'completed' });
    expect(child).toMatchObject({ status: 'completed', display_name: 'Digest faro 3' });
    expect(child).toMatchObject({ parent: { execution_id: parent.id, node_id: 'digest' } });
  });

  it('an event delivered five times at once counts once', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => call({ id: 'same', shop: 'braga' })));
    const ids = new Set(answers.map(({ json }) => json.execution_id));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(ids.size).toBe(1);
    await world.finished([...ids][0] ?? 0);
    expect(outputOf(await deliver({ id: 'next', shop: 'braga' }), 'count')).toMatchObject({ value: 2 });
  });

  it('many concurrent events are all counted', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => call({ id: `many-${index}`, shop: 'aveiro' })),
    );
    const ended = await Promise.all(answers.map(({ json }) => world.finished(json.execution_id)));
    const counts = ended.map((execution) => Number(outputOf(execution, 'count').value));
    expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(world.outside.received).toHaveLength(6);
  });

  it('an event without an id is refused, because repeats could not be recognised', async () => {
    expect((await call({ id: null })).status).toBe(422);
  });
});
