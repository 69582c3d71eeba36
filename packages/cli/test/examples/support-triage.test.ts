import { type JsonObject, stringifyJson } from '@millrace/engine';
import {
  type ModelAnswer,
  type ModelError,
  type ModelRequest,
  type ModelServer,
  startModelServer,
} from '@millrace/testing/model-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { approvalIn, decideOn, type Imported, openWorld, outputOf, statusesOf, type World } from './world.ts';

let world: World;
let model: ModelServer;
let support: Imported;
let answer: (request: ModelRequest) => string | ModelAnswer | { readonly error: ModelError };
let tickets = 0;

beforeAll(async () => {
  model = await startModelServer({ key: 'sk-support', answer: (request) => answer(request) });
  world = await openWorld();
  support = await world.importExample('support-triage', {
    ai_credential: await world.addCredential('ai', {
      provider: 'anthropic',
      base_url: model.baseUrl('anthropic'),
      api_key: 'sk-support',
    }),
    ai_model: 'harbour-small',
    mail_credential: await world.addMail(),
    chat_credential: await world.addChat('duty'),
  });
});
afterAll(async () => {
  await world.close();
  await model.close();
});
beforeEach(() => {
  world.outside.forget();
  world.mail.forget();
  world.outside.on('POST /hooks/duty', { body: 'ok' });
});

const DRAFT =
  'Dear Jonas,\n\nthank you for writing. We will look into invoice 2026-1107 and come back to you.';

function says(kind: string): ModelAnswer {
  const json = { kind, summary: `It is about: ${kind}.`, answer: kind === 'question' ? DRAFT : '' };
  return { text: JSON.stringify(json), usage: { input: 400, output: 90 } };
}

async function deliver(sample = 'invoice-question.json') {
  tickets += 1;
  const mail = { ...(support.sample(sample) as JsonObject), ticket: `T-${tickets}` };
  const receipt = await support.call(stringifyJson(mail));
  expect(receipt.status, receipt.text).toBe(202);
  return receipt.json.execution_id;
}

function decide(choice: string, comment = '') {
  const page = approvalIn(world, world.mail.received[0]?.text ?? '');
  return decideOn(page, { choice, comment, name: 'Ada' });
}

describe('support-triage', () => {
  it('sends a draft to the team, and to the customer once approved', async () => {
    answer = () => says('question');
    const id = await deliver();
    const waiting = await world.settled(id);
    expect(waiting.status).toBe('waiting_async');
    expect(statusesOf(waiting)).toMatchObject({ read: 'success', kind: 'success', ask: 'waiting' });
    const [asked, ...others] = world.mail.received;
    expect(others).toEqual([]);
    expect(asked).toMatchObject({
      to: ['support-team@harbour-supplies.example'],
      subject: `T-${tickets}: send this answer?`,
    });
    expect(asked?.text).toContain(DRAFT);
    expect(asked?.text).toMatch(/I will answer: {2}\S+\?choice=by_hand\n/);

    expect((await decide('send')).status).toBe(200);
    const execution = await world.finished(id);

    expect(execution).toMatchObject({ status: 'completed', consumed_ai_tokens: 490 });
    expect(statusesOf(execution)).toEqual({
      mail: 'success',
      read: 'success',
      kind: 'success',
      alarm: 'skipped',
      ask: 'success',
      closed: 'skipped',
      answer: 'success',
      by_hand: 'skipped',
    });
    expect(world.mail.received).toHaveLength(2);
    expect(world.mail.received[1]).toMatchObject({
      from: 'support@harbour-supplies.example',
      to: ['jonas.lind@fjordline-kayaks.example'],
      subject: `Re: Invoice 2026-1107 shows two seats too many [T-${tickets}]`,
      text: `${DRAFT}\n`,
    });
    expect(world.outside.received).toEqual([]);
    expect(JSON.stringify(execution)).not.toContain('sk-support');
  });

  it('passes the mail to people if the draft is rejected: the customer gets nothing', async () => {
    answer = () => says('question');
    const id = await deliver();
    await world.settled(id);
    await decide('by_hand', 'I know him, I will ring.');
    const execution = await world.finished(id);

    expect(execution.status).toBe('completed');
    expect(statusesOf(execution)).toMatchObject({ answer: 'skipped', by_hand: 'success' });
    expect(world.mail.received).toHaveLength(1);
    expect(world.outside.to('POST /hooks/duty')[0]?.text).toContain('I know him, I will ring.');
  });

  it('alerts the people on duty at once if it is urgent', async () => {
    answer = () => says('urgent');
    const execution = await world.finished(await deliver('outage.json'));

    expect(execution.status).toBe('completed');
    expect(statusesOf(execution)).toMatchObject({
      alarm: 'success',
      ask: 'skipped',
      answer: 'skipped',
      closed: 'skipped',
    });
    expect(world.outside.to('POST /hooks/duty')[0]?.text).toContain('Urgent: No forecasts since 06:10');
    expect(world.mail.received).toEqual([]);
  });

  it('ignores spam', async () => {
    answer = () => says('spam');
    const execution = await world.finished(await deliver());
    expect(outputOf(execution, 'closed')).toEqual({ ticket: `T-${tickets}`, closed_as: 'spam' });
    expect([...world.mail.received, ...world.outside.received]).toEqual([]);
  });

  it('asks the model again if it is overloaded, or gives another answer than requested', async () => {
    const answers = [
      { error: { status: 429, headers: { 'retry-after': '0' } } },
      'Sure! Here it is.',
      says('urgent'),
    ];
    answer = () => answers.shift() ?? says('spam');
    const execution = await world.finished(await deliver('outage.json'));

    expect(execution.node_outputs.read).toMatchObject({ status: 'success', attempts: 3 });
    expect(answers).toEqual([]);
    expect(statusesOf(execution).alarm).toBe('success');
    // The cost of the useless response is counted too.
    expect(execution.consumed_ai_tokens).toBe(490 + 15);
  });

  it('passes a mail that no model can read to people', async () => {
    answer = () => ({ error: { status: 400, message: 'no such model' } });
    const execution = await world.finished(await deliver());

    expect(execution.status).toBe('completed');
    expect(statusesOf(execution)).toMatchObject({
      read: 'failed',
      kind: 'skipped',
      ask: 'skipped',
      by_hand: 'success',
    });
    expect(world.outside.to('POST /hooks/duty')[0]?.text).toContain('no such model');
  });
});
