import type { AdminExecutionFilters } from '@millrace/service/executions/admin-filters';
import {
  countAdminExecutions,
  findAdminExecutions,
  MAX_SCANNED,
} from '@millrace/service/executions/admin-list';
import { listRecentRuns } from '@millrace/service/workflows/admin-store';
import {
  buffersOf,
  createLongHistory,
  insertSmallAmongLarge,
  type LongHistory,
} from '@millrace/testing/list-cost';
import { afterAll, beforeAll, expect, test } from 'vitest';

const NONE: AdminExecutionFilters = {
  statuses: null,
  workflowId: null,
  triggerType: null,
  isTestMode: null,
  text: null,
  apiKeyId: null,
  sourceIp: null,
  errorWords: null,
  inputTexts: null,
  searchKey: null,
  after: null,
  before: null,
};
/** A page of 51 executions plus the index descents of each statement stay well below this. */
const MAX_BUFFERS = 400;
/** Filters without an index are applied row by row, up to a bound; where that ends is found in the index. */
const MAX_SEARCH_BUFFERS = 1.5 * MAX_SCANNED;

const NO_TIME_PASSES = () => 0;

let history: LongHistory;
beforeAll(async () => {
  history = await createLongHistory(120_000);
  await history.database.db.query(
    `INSERT INTO execution_search_keys (organisation_id, value, execution_id)
     SELECT organisation_id, CASE WHEN id % 10000 = 0 THEN 'rare' ELSE 'frequent' END, id FROM executions`,
  );
  await history.database.db.query('ANALYZE execution_search_keys');
});
afterAll(() => history.database.drop());

const find = (filters: Partial<AdminExecutionFilters>, belowId: number | null = null) =>
  history.database.db.forOrganisation(history.ids.organisationId, (tx) =>
    findAdminExecutions(tx, history.ids.organisationId, { ...NONE, ...filters }, belowId, 51, NO_TIME_PASSES),
  );

const costOf = (filters: Partial<AdminExecutionFilters>) =>
  buffersOf(history, (tx) =>
    findAdminExecutions(tx, history.ids.organisationId, { ...NONE, ...filters }, null, 51, NO_TIME_PASSES),
  );

const MIDDLE = { after: new Date('2026-01-05T00:00:00Z'), before: new Date('2026-01-06T00:00:00Z') };
const SIX_HOURS = { ...MIDDLE, before: new Date('2026-01-05T06:00:00Z') };

test.each<[string, () => Partial<AdminExecutionFilters>]>([
  ['no filter', () => ({})],
  ['completed', () => ({ statuses: ['completed'] })],
  ['a rare status', () => ({ statuses: ['failed'] })],
  ['several statuses', () => ({ statuses: ['cancelled', 'failed', 'running'] })],
  ['statuses with completed', () => ({ statuses: ['completed', 'queued'] })],
  ['a status nobody has', () => ({ statuses: ['queued'] })],
  ['a workflow', () => ({ workflowId: history.ids.workflowId })],
  ['a rare workflow', () => ({ workflowId: history.rare })],
  ['a workflow and a rare status', () => ({ workflowId: history.ids.workflowId, statuses: ['failed'] })],
  ['a rare workflow and a frequent status', () => ({ workflowId: history.rare, statuses: ['cancelled'] })],
  ['a time', () => MIDDLE],
  ['a time and statuses', () => ({ ...MIDDLE, statuses: ['failed', 'cancelled'] })],
  ['a time and a rare workflow', () => ({ ...MIDDLE, workflowId: history.rare })],
  ['a time before everything', () => ({ before: new Date('2020-01-01T00:00:00Z') })],
  ['a frequent text', () => ({ text: 'SAMPLE' })],
  ['a trigger that few have', () => ({ triggerType: 'manual' })],
  ['a trigger nobody used', () => ({ triggerType: 'schedule' })],
  ['a test mode that few were in', () => ({ isTestMode: true })],
  ['a key that started few', () => ({ apiKeyId: 2 })],
  ['a key that started few, and a frequent status', () => ({ apiKeyId: 2, statuses: ['completed'] })],
  ['a key that started nothing, from an address', () => ({ apiKeyId: 3, sourceIp: '192.0.2.1' })],
  ['a test mode and a text nobody has', () => ({ isTestMode: true, text: 'zebra' })],
  ['a search key that few have', () => ({ searchKey: 'rare' })],
  ['a search key that nearly all have', () => ({ searchKey: 'frequent' })],
  ['a search key nobody has', () => ({ searchKey: 'none', statuses: ['completed'] })],
])('a page costs what it shows, not what there is: %s', async (_what, filters) => {
  expect(await costOf(filters())).toBeLessThan(MAX_BUFFERS);
});

test.each<[string, () => Partial<AdminExecutionFilters>]>([
  ['a text nobody has', () => ({ text: 'zebra' })],
  ['an address that nothing came from', () => ({ sourceIp: '192.0.2.1' })],
  ['a text within a status', () => ({ text: 'zebra', statuses: ['cancelled'] })],
  ['a frequent trigger that nobody used', () => ({ triggerType: 'webhook' })],
  [
    'an error nobody has',
    () => ({ errorWords: [{ word: 'zebra', keys: '"(flow\\.cycle)"' }], statuses: ['failed'] }),
  ],
  ['an input nobody has', () => ({ inputTexts: ['zebra'] })],
  ['a frequent search key and a text nobody has', () => ({ searchKey: 'frequent', text: 'zebra' })],
])('a search has a bound: %s', async (_what, filters) => {
  expect(await costOf(filters())).toBeLessThan(MAX_SEARCH_BUFFERS);
});

test('a continued search finds matches far back, and says when there are no more', async () => {
  let belowId: number | null = null;
  const found: string[] = [];
  let pages = 0;
  do {
    const { rows, searchedTo } = await find(
      { text: 'SAMPLE #5', triggerType: 'api', statuses: ['failed'] },
      belowId,
    );
    found.push(...rows.map(({ display_name: name }) => name));
    belowId = rows.length === 51 ? (rows.at(-1)?.id ?? null) : (searchedTo?.id ?? null);
    pages += 1;
  } while (belowId !== null && pages < 50);
  // 1,001, 5,001 and so on failed; those whose number starts with 5 are 5,001 and 50,001 to 59,001.
  expect(new Set(found).size).toBe(found.length);
  expect(found).toHaveLength(11);
});

test('rows found by both the short and the long search are returned once, in order', async () => {
  const { rows } = await find({ text: '00', statuses: ['failed', 'cancelled'] });
  const ids = rows.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
  expect(ids.length).toBeGreaterThan(20);
});

const count = (filters: Partial<AdminExecutionFilters>) =>
  countAdminExecutions(history.database.db, history.ids.organisationId, { ...NONE, ...filters });

test('few executions are counted exactly', async () => {
  expect(await count({ statuses: ['failed'] })).toEqual({ count: 120, precision: 'exact' });
  expect(await count({ workflowId: history.rare })).toEqual({ count: 24, precision: 'exact' });
  expect(await count({ statuses: ['queued'] })).toEqual({ count: 0, precision: 'exact' });
  expect(await count({ ...SIX_HOURS, text: 'SAMPLE' })).toEqual({ count: 2_161, precision: 'exact' });
});

test('many are estimated', async () => {
  for (const [filters, real] of [
    [{}, 120_000],
    [{ statuses: ['completed'] as const }, 113_880],
    [{ statuses: ['cancelled'] as const }, 6_000],
    [{ workflowId: history.ids.workflowId }, 119_976],
    [{ after: new Date('2026-01-08T00:00:00Z') }, 59_520],
  ] as const) {
    const { count: about, precision } = await count(filters);
    expect(precision).toBe('about');
    expect(about).toBeGreaterThan(real * 0.9);
    expect(about).toBeLessThan(real * 1.1);
  }
});

test('what only a search can find is counted as far as the search goes', async () => {
  expect(await count({ text: 'zebra' })).toEqual({ count: 0, precision: 'at_least' });
  expect(await count({ text: 'SAMPLE' })).toMatchObject({ precision: 'at_least' });
});

test.each<[string, Partial<AdminExecutionFilters>]>([
  ['all', {}],
  ['a status', { statuses: ['completed'] }],
  ['several statuses', { statuses: ['cancelled', 'failed', 'running'] }],
  ['a text', { text: 'zebra' }],
])('counting has a bound: %s', async (_what, filters) => {
  const cost = await buffersOf(history, (tx) =>
    countAdminExecutions(
      {
        ...history.database.db,
        query: (text, values) => history.database.db.query(text, values),
        forOrganisation: (_id, work) => work(tx),
      },
      history.ids.organisationId,
      { ...NONE, ...filters },
    ),
  );
  expect(cost).toBeLessThan(MAX_SEARCH_BUFFERS);
});

test('what is read of a workflow costs no more if its organisation is a small one among large ones', async () => {
  const small = await insertSmallAmongLarge(history);
  const { organisationId, workflowId } = small.ids;
  const page = buffersOf(small, (tx) =>
    findAdminExecutions(tx, organisationId, { ...NONE, workflowId }, null, 101),
  );
  expect(await page).toBeLessThan(2 * MAX_BUFFERS);
  const strip = buffersOf(small, (tx) => listRecentRuns(tx, organisationId, [workflowId], 20));
  expect(await strip).toBeLessThan(MAX_BUFFERS);
});
