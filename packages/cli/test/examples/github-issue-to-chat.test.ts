import { createHmac } from 'node:crypto';
import { type JsonObject, stringifyJson } from '@millrace/engine';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Imported, openWorld, outputOf, statusesOf, type World } from './world.ts';

const SECRET = 'ebb-and-flow-2026';

let world: World;
let issues: Imported;
let deliveries = 0;

beforeAll(async () => {
  world = await openWorld();
  issues = await world.importExample('github-issue-to-chat', {
    github_secret: await world.addCredential('secret', { value: SECRET }),
    labels: ['bug', 'security'],
    chat_credential: await world.addChat('team'),
  });
});
afterAll(() => world.close());
beforeEach(() => {
  world.outside.forget();
  world.outside.on('POST /hooks/team', { body: 'ok' });
});

/** An event about a separate issue, so that tests don't affect each other. */
function eventOf(change: JsonObject, issueChange: JsonObject = {}): JsonObject {
  const event = issues.sample('issue-opened.json') as { readonly issue: JsonObject } & JsonObject;
  return { ...event, ...change, issue: { ...event.issue, id: 1_000 + deliveries, ...issueChange } };
}

function call(event: JsonObject, { secret = SECRET, delivery = `delivery-${++deliveries}` } = {}) {
  const text = stringifyJson(event);
  return issues.call(text, {
    'x-github-event': 'issues',
    'x-github-delivery': delivery,
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`,
  });
}

async function deliver(event: JsonObject) {
  const receipt = await call(event);
  expect(receipt.status, receipt.text).toBe(202);
  return world.finished(receipt.json.execution_id);
}

describe('github-issue-to-chat', () => {
  it('posts an issue opened with a label that matters', async () => {
    const execution = await deliver(eventOf({}));

    expect(execution).toMatchObject({ status: 'completed', display_name: 'tide-tables #312 opened' });
    expect(new Set(Object.values(statusesOf(execution)))).toEqual(new Set(['success']));
    expect(outputOf(execution, 'labels')).toMatchObject({ count: 1, rejected_count: 1 });
    expect(world.outside.received.map(({ body }) => body)).toMatchObject([
      {
        attachments: [
          {
            title: 'harbour-tools/tide-tables #312: Tide of 29 March is one hour off',
            text: expect.stringContaining('https://github.com/harbour-tools/tide-tables/issues/312'),
            fields: [
              { title: 'Labels', value: 'bug' },
              { title: 'Opened by', value: 'lmoreau' },
            ],
          },
        ],
      },
    ]);
  });

  it('posts it once, although GitHub reports the label as a separate event', async () => {
    const opened = eventOf({}, { id: 77 });
    await deliver(opened);
    const execution = await deliver(eventOf({ action: 'labeled', label: { name: 'bug' } }, { id: 77 }));

    expect(execution.status).toBe('completed');
    expect(statusesOf(execution)).toMatchObject({ first: 'success', is_first: 'success', tell: 'skipped' });
    expect(world.outside.received).toHaveLength(1);
  });

  it.each([
    ['without such a label', {}, { labels: [{ name: 'question' }] }, { labels: 'success', first: 'skipped' }],
    ['that is closed', { action: 'closed' }, {}, { is_news: 'success', labels: 'skipped' }],
    ['that is a pull request', {}, { pull_request: { url: 'x' } }, { is_news: 'success', labels: 'skipped' }],
  ])('ignores an issue %s', async (_, change, issueChange, statuses) => {
    const execution = await deliver(eventOf(change, issueChange));

    expect(execution.status).toBe('completed');
    expect(statusesOf(execution)).toMatchObject({ ...statuses, tell: 'skipped' });
    expect(world.outside.received).toEqual([]);
  });

  it('refuses a call signed by someone else, and starts nothing', async () => {
    const before = await world.executionsOf(issues.id);
    const refused = await call(eventOf({}), { secret: 'guessed' });

    expect(refused.status).toBe(401);
    expect(await world.executionsOf(issues.id)).toEqual(before);
  });

  it('responds to a repeated delivery with the execution it started', async () => {
    const event = eventOf({});
    const first = await call(event, { delivery: 'again' });
    const second = await call(event, { delivery: 'again' });

    expect(second.json.execution_id).toBe(first.json.execution_id);
    await world.finished(first.json.execution_id);
    expect(world.outside.received).toHaveLength(1);
  });
});
