import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExecutionFilters, listExecutions } from '../../src/features/executions/store.ts';
import { buffersOf, createLongHistory, type LongHistory } from '../support/list-cost.ts';

const NONE: ExecutionFilters = { workflowId: null, status: null, createdAfter: null, createdBefore: null };
/** An 8 KiB page holds about 40 rows; a page of 21 executions plus the ways down four indexes is well below this. */
const MOST_BUFFERS = 250;

let history: LongHistory;
beforeAll(async () => {
  history = await createLongHistory(60_000);
});
afterAll(() => history.database.drop());

const costOf = (filters: Partial<ExecutionFilters>, belowId = Number.MAX_SAFE_INTEGER) =>
  buffersOf(history, (tx) =>
    listExecutions(tx, history.ids.organisationId, { ...NONE, ...filters }, belowId, 21),
  );

const at = (text: string) => new Date(text);
const MIDDLE = { createdAfter: at('2026-01-03T00:00:00Z'), createdBefore: at('2026-01-04T00:00:00Z') };

test.each<[string, Partial<ExecutionFilters>, number?]>([
  ['no filter', {}],
  ['a page far back', {}, 500],
  ['status completed', { status: 'completed' }],
  ['a rare status', { status: 'failed' }],
  ['a status nobody has', { status: 'queued' }],
  ['the newest', { createdAfter: at('2026-01-07T22:00:00Z') }],
  ['the oldest', { createdBefore: at('2026-01-01T01:00:00Z') }],
  ['a time in the middle', MIDDLE],
  [
    'a few seconds in the middle',
    { createdAfter: at('2026-01-03T00:00:00Z'), createdBefore: at('2026-01-03T00:00:25Z') },
  ],
  ['the older half', { createdBefore: at('2026-01-04T12:00:00Z') }],
  ['the older half of a status', { createdBefore: at('2026-01-04T12:00:00Z'), status: 'completed' }],
  ['a time before everything', { createdBefore: at('2020-01-01T00:00:00Z') }],
  ['a time after everything', { createdAfter: at('2030-01-01T00:00:00Z') }],
  ['a time and a status', { ...MIDDLE, status: 'completed' }],
])('a page costs what it shows, not what there is: %s', async (_what, filters, belowId) => {
  expect(await costOf(filters, belowId)).toBeLessThan(MOST_BUFFERS);
});

test('the same for a workflow, with and without other filters', async () => {
  for (const workflowId of [history.rare, history.ids.workflowId]) {
    expect(await costOf({ workflowId })).toBeLessThan(MOST_BUFFERS);
    expect(await costOf({ workflowId, status: 'failed' })).toBeLessThan(MOST_BUFFERS);
    expect(await costOf({ workflowId, ...MIDDLE })).toBeLessThan(MOST_BUFFERS);
  }
});
