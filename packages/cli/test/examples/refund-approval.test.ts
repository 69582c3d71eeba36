import type { JsonObject } from '@millrace/engine';
import { send } from '@millrace/testing/api';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  approvalIn,
  decideOn,
  type Imported,
  openWorld,
  outputOf,
  statusesOf,
  TOKEN,
  type World,
} from './world.ts';

let world: World;
let refunds: Imported;

beforeAll(async () => {
  world = await openWorld();
  refunds = await world.importExample('refund-approval', {
    payments_url: world.outside.url,
    payments_credential: await world.addToken(),
    chat_credential: await world.addChat('finance'),
  });
});
afterAll(() => world.close());
beforeEach(() => {
  world.outside.forget();
  world.outside.on('POST /hooks/finance', { body: 'ok' });
  world.outside.on('POST /refunds', { status: 201, body: { id: 're_1', status: 'succeeded' } });
});

/** Requests a refund and waits until the approval is requested. */
async function ask(change: JsonObject = {}) {
  const sample = refunds.sample('refund-request.json') as JsonObject;
  const id = await world.execute(refunds.id, { ...sample, ...change });
  const execution = await world.settled(id);
  expect(execution.status).toBe('waiting_async');
  const [message] = world.outside.to('POST /hooks/finance');
  return { id, execution, page: approvalIn(world, message?.text ?? '') };
}

function decide(page: string, choice: string, more: { readonly [name: string]: string } = {}) {
  return decideOn(page, { choice, ...more });
}

function told(): string {
  return JSON.stringify(world.outside.to('POST /hooks/finance').at(-1)?.body);
}

describe('refund-approval', () => {
  it('waits for a decision, pays once approved, and reports who approved', async () => {
    const { id, execution: waiting, page } = await ask();
    expect(statusesOf(waiting)).toEqual({ request: 'success', ask: 'waiting' });
    expect(world.outside.to('POST /refunds')).toEqual([]);
    const shown = await send(page, 'GET');
    expect(shown.text).toContain('Refund 129.00 EUR to Petra Nowak?');

    expect((await decide(page, 'approve', { name: 'Ines', comment: 'Seen the photographs' })).status).toBe(
      200,
    );
    const execution = await world.finished(id);

    expect(execution).toMatchObject({
      status: 'completed',
      display_name: 'Refund 129.00 EUR, O-20261118-0093',
    });
    expect(statusesOf(execution)).toEqual({
      request: 'success',
      ask: 'success',
      refund: 'success',
      tell_paid: 'success',
      tell_failed: 'skipped',
      tell_not_paid: 'skipped',
    });
    expect(outputOf(execution, 'ask')).toMatchObject({
      decision: 'approve',
      comment: 'Seen the photographs',
      decided_by: { via: 'link', name: 'Ines' },
    });
    const [paid, ...others] = world.outside.to('POST /refunds');
    expect(others).toEqual([]);
    expect(paid?.headers).toMatchObject({
      'idempotency-key': 'refund-pi_3SaBreakwater1Jd7nE4tQw8',
      authorization: `Bearer ${TOKEN}`,
    });
    expect(paid?.body).toEqual({
      payment: 'pi_3SaBreakwater1Jd7nE4tQw8',
      amount: '129.00',
      currency: 'EUR',
      reference: 'O-20261118-0093',
    });
    expect(told()).toContain('paid back to Petra Nowak');
    expect(told()).toContain('Ines');
    expect(told()).toContain('re_1');
  });

  it('pays nothing if rejected, and a second decision comes too late', async () => {
    const { id, page } = await ask();
    await decide(page, 'reject', { comment: 'Not our parcel' });
    const execution = await world.finished(id);

    expect(execution.status).toBe('completed');
    expect(statusesOf(execution)).toMatchObject({
      refund: 'skipped',
      tell_paid: 'skipped',
      tell_not_paid: 'success',
    });
    expect(told()).toContain('Not our parcel');
    expect((await decide(page, 'approve')).status).toBe(409);
    expect(world.outside.to('POST /refunds')).toEqual([]);
  });

  it('a retried refund carries the same key', async () => {
    world.outside.on('POST /refunds', (_, nth) =>
      nth === 1 ? { status: 503 } : { status: 201, body: { id: 're_2' } },
    );
    const { id, page } = await ask();
    await decide(page, 'approve');
    const execution = await world.finished(id);

    expect(execution.node_outputs.refund).toMatchObject({ status: 'success', attempts: 2 });
    const keys = world.outside.to('POST /refunds').map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(['refund-pi_3SaBreakwater1Jd7nE4tQw8', 'refund-pi_3SaBreakwater1Jd7nE4tQw8']);
  });

  it('reports an approved refund that could not be paid', async () => {
    world.outside.on('POST /refunds', { status: 402, body: { error: 'balance too low' } });
    const { id, page } = await ask();
    await decide(page, 'approve');
    const execution = await world.finished(id);

    expect(execution.status).toBe('completed');
    expect(statusesOf(execution)).toMatchObject({
      refund: 'failed',
      tell_paid: 'skipped',
      tell_failed: 'success',
    });
    expect(told()).toContain('Approved, but not paid');
    expect(told()).toContain('status 402');
  });

  it('an execution cancelled while it waits stops asking', async () => {
    const { id, page } = await ask();
    const { api } = world.service;
    expect((await api('POST', `/executions/${id}/cancel`, { key: world.key })).status).toBe(200);
    expect((await decide(page, 'approve')).status).toBe(409);
    expect(statusesOf(await world.finished(id)).ask).toBe('cancelled');
    expect(world.outside.to('POST /refunds')).toEqual([]);
  });

  it.each([
    [{ amount: '12.9' }, '/input_data/amount'],
    [{ amount: 129 }, '/input_data/amount'],
    [{ reason: '' }, '/input_data/reason'],
  ])('refuses %j before anyone is asked', async (change, pointer) => {
    const sample = refunds.sample('refund-request.json') as JsonObject;
    const refused = await world.service.api('POST', `/workflows/${refunds.id}/execute`, {
      key: world.key,
      body: { input_data: { ...sample, ...change } },
    });
    expect([refused.status, refused.json.errors[0]?.pointer]).toEqual([422, pointer]);
    expect(world.outside.received).toEqual([]);
  });
});
