import { send } from '@millrace/testing/api';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { approvalIn, decideOn, type Imported, openWorld, outputOf, statusesOf, type World } from './world.ts';

let world: World;
let requests: Imported;

beforeAll(async () => {
  world = await openWorld();
  requests = await world.importExample('purchase-request', {
    mail_credential: await world.addMail(),
    from_email: 'Purchasing <purchasing@shop.example>',
    approver_email: 'boss@shop.example',
  });
});
afterAll(() => world.close());
beforeEach(() => world.mail.forget());

/** Fills in the form as a browser does, and waits until the decision is asked for. */
async function request() {
  const [row] = await world.service.database.db.query<{ hash: string }>(
    'SELECT webhook_hash AS hash FROM workflows WHERE id = $1',
    [requests.id],
  );
  const url = `${world.service.url}/api/v1/forms/${row?.hash ?? ''}`;
  const page = await send(url, 'GET');
  const token = /name="_token" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const { email, item, price, reason, urgency } = requests.sample('desk.json') as Record<string, string>;
  const before = await world.executionsOf(requests.id);
  const body = new URLSearchParams({
    _token: token,
    email,
    item,
    price: `${price}`,
    reason,
    urgency,
  } as never);
  const sent = await fetch(url, { method: 'POST', body, redirect: 'manual' });
  expect(sent.status, await sent.text()).toBe(303);
  const [id = 0] = (await world.executionsOf(requests.id)).filter((each) => !before.includes(each));
  return waiting(id);
}

async function waiting(id: number) {
  expect((await world.settled(id)).status).toBe('waiting_async');
  const [mail] = world.mail.received;
  expect(mail?.to).toEqual(['boss@shop.example']);
  return { id, page: approvalIn(world, mail?.text ?? '') };
}

describe('purchase-request', () => {
  it('asks for a decision on what the form asked for, and mails what was decided', async () => {
    const { id, page } = await request();
    const shown = await send(page, 'GET');
    expect(shown.text).toContain('Buy Standing desk for 480?');
    expect(shown.text).toContain('value="480"');
    const refused = await decideOn(page, { choice: 'approve', 'field.limit': 'much' });
    expect(refused.status).toBe(422);
    const answers = { 'field.limit': '450.00', 'field.cost_centre': 'C-12', 'field.message': 'Enjoy!' };
    expect((await decideOn(page, { choice: 'approve', ...answers })).status).toBe(200);
    const execution = await world.finished(id);
    expect(execution).toMatchObject({
      status: 'completed',
      display_name: 'Standing desk for mia@example.com',
    });
    expect(outputOf(execution, 'ask').values).toEqual({ limit: 450, cost_centre: 'C-12', message: 'Enjoy!' });
    const [, answer, ...others] = world.mail.received;
    expect(others).toEqual([]);
    expect(answer).toMatchObject({ to: ['mia@example.com'], subject: 'Approved: Standing desk' });
    for (const text of ['up to 450', 'C-12', 'Enjoy!']) expect(answer?.text).toContain(text);
    expect(statusesOf(execution)).toEqual({
      ...{ request: 'success', by_api: 'skipped', ask: 'success', approved: 'success', declined: 'skipped' },
    });
  });

  it('takes the same request through the API, and mails a refusal', async () => {
    const { id, page } = await waiting(
      await world.execute(requests.id, requests.sample('desk.json') as never),
    );
    await decideOn(page, { choice: 'reject', 'field.message': 'Not this year.' });
    const execution = await world.finished(id);
    expect(statusesOf(execution)).toMatchObject({
      request: 'skipped',
      by_api: 'success',
      declined: 'success',
    });
    expect(world.mail.received[1]).toMatchObject({
      to: ['mia@example.com'],
      subject: 'Not approved: Standing desk',
    });
    expect(world.mail.received[1]?.text).toContain('Not this year.');
  });
});
