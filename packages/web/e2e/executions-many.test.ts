import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type ExecutionsWorld, openExecutionsWorld } from './executions-world.ts';
import { expectNoComplaints } from './support/browser-service.ts';

let world: ExecutionsWorld;
let editor: TestPerson;
beforeAll(async () => {
  world = await openExecutionsWorld();
  editor = await createPerson(world.service, 'editor');
});
afterAll(() => world.stop());

/** Inserts executions into the database, more than could reasonably be started one by one. @returns the last id */
async function insertMany(
  workflowId: number,
  count: number,
  status: 'waiting_async' | 'completed',
): Promise<number> {
  const rows = await world.service.database.db.query<{ id: number }>(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, started_at, completed_at, wake_at)
     SELECT $1, $2, 1, $4, 'api', CASE WHEN n = 1 THEN 'The very first' ELSE 'Order ' || n END, false, '{}',
       date_trunc('milliseconds', now()), CASE WHEN $4 = 'completed' THEN date_trunc('milliseconds', now()) END,
       CASE WHEN $4 = 'waiting_async' THEN now() + interval '1 day' END
     FROM generate_series(1, $3::integer) n ORDER BY n RETURNING id`,
    [editor.organisationId, workflowId, count, status],
  );
  return rows.at(-1)?.id ?? 0;
}

/** Ends it in the database without notifying anyone. */
async function endInDatabase(id: number): Promise<void> {
  for (const change of [
    `status = 'running', wake_at = NULL, worker_id = gen_random_uuid()`,
    `status = 'completed', worker_id = NULL, completed_at = date_trunc('milliseconds', clock_timestamp())`,
  ]) {
    await world.service.database.db.query(`UPDATE executions SET ${change} WHERE id = $1`, [id]);
  }
}

async function showRows(page: Page, count: number): Promise<Locator> {
  const rows = page.locator('tr[data-execution]');
  await rows.first().waitFor();
  for (let shown = 50; shown < count; shown += 50) {
    await page.getByRole('button', { name: 'Load more' }).click();
    await expect.poll(() => rows.count()).toBe(shown + 50);
  }
  return rows;
}

test('all matches are cancelled, more than are shown, and refusals are listed', async () => {
  const workflowId = await world.createWorkflow(editor, 'sleeping');
  const lastId = await insertMany(workflowId, 260, 'waiting_async');
  const opened = await world.openFor(editor, `executions?workflow=${workflowId}`);
  const { page } = opened;
  const rows = await showRows(page, 100);
  await page.getByRole('combobox', { name: 'Rows per page' }).click();
  await page.getByRole('option', { name: '200 rows' }).click();
  await expect.poll(() => rows.count()).toBe(200);
  // The browser would keep it for the tests that follow.
  await page.evaluate(() => localStorage.removeItem('millrace.executions.page-size'));
  await page.getByRole('checkbox', { name: 'Select all shown' }).check();
  const bar = page.getByRole('toolbar', { name: 'Selected executions' });
  await bar.getByText('200 selected').waitFor();
  await bar.getByRole('button', { name: 'Select all matching' }).click();
  await bar.getByText('260 selected').waitFor();
  // One of them ends in the meantime.
  await endInDatabase(lastId - 230);
  await bar.getByRole('button', { name: 'Cancel (260)' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Cancel 260 executions?').waitFor();
  await dialog.getByRole('button', { name: 'Cancel executions' }).click();
  await dialog.getByText('259 done').waitFor();
  await dialog.getByText('1 failed').waitFor();
  await dialog.getByRole('link', { name: `#${lastId - 230}` }).waitFor();
  const [left] = await world.service.database.db.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM executions WHERE workflow_id = $1 AND status = 'waiting_async'`,
    [workflowId],
  );
  expect(left?.count).toBe(0);
  await expect.poll(() => rows.locator('[data-status="cancelled"]').count()).toBe(200);
  expectNoComplaints(opened);
});

test('more changes than the stream reports one by one are shown all the same', async () => {
  const workflowId = await world.createWorkflow(editor, 'sleeping');
  const lastId = await insertMany(workflowId, 300, 'waiting_async');
  const { page } = await world.openFor(editor, `executions?workflow=${workflowId}`);
  await page.getByText('Live', { exact: true }).waitFor();
  const rows = await showRows(page, 300);
  await Promise.all(
    Array.from({ length: 300 }, (_, index) =>
      editor.call('POST /orgs/:org/executions/:execution/cancel', {
        params: { org: editor.organisationId, execution: lastId - index },
      }),
    ),
  );
  await expect.poll(() => rows.locator('[data-status="cancelled"]').count()).toBe(300);
});

test('missed changes are shown although more are missed all the time', async () => {
  const workflowId = await world.createWorkflow(editor, 'sleeping');
  const lastId = await insertMany(workflowId, 1, 'waiting_async');
  const { page } = await world.openFor(editor, 'workflows');
  const script = await page.addInitScript(() => {
    const Real = window.EventSource;
    window.EventSource = class extends Real {
      constructor(address: string | URL) {
        super(address);
        Object.assign(window, { stream: this });
      }
    };
  });
  onTestFinished(() => script.dispose());
  const miss = () =>
    page.evaluate(() => {
      const { stream } = window as unknown as { readonly stream: EventSource };
      stream.dispatchEvent(new MessageEvent('missed', { data: '{}' }));
    });
  // Each catch-up request coincides with another missed event.
  await page.route(/executions\?ids=/, async (route) => {
    await miss();
    await route.continue();
  });
  await page.goto(`${world.url}/o/${editor.organisationId}/executions?workflow=${workflowId}`);
  const row = page.locator(`[data-execution="${lastId}"]`);
  await row.locator('[data-status="waiting_async"]').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await endInDatabase(lastId);
  await miss();
  await row.locator('[data-status="completed"]').waitFor();
});

test('of many rows only those near the window are fully rendered, and none moves for it', async () => {
  const workflowId = await world.createWorkflow(editor, 'sleeping');
  await insertMany(workflowId, 300, 'completed');
  const opened = await world.openFor(editor, `executions?workflow=${workflowId}`);
  const { page } = opened;
  const rows = await showRows(page, 300);
  const boxOf = (row: Locator) => row.locator('input[type="checkbox"]');
  await page.keyboard.press('Control+Home');
  await boxOf(rows.first()).focus();
  await expect.poll(() => boxOf(rows).count()).toBeLessThan(150);
  expect(await boxOf(rows.last()).count()).toBe(0);
  // The others are rendered as text, with their position in the list.
  expect(await rows.last().textContent()).toContain('The very firstReminder');
  await expect.poll(() => page.getByRole('row').count()).toBe(301);
  expect(await rows.last().getAttribute('aria-rowindex')).toBe('301');
  const height = () => page.evaluate(() => document.documentElement.scrollHeight);
  const heightBefore = await height();
  await rows.last().scrollIntoViewIfNeeded();
  await boxOf(rows.last()).check();
  expect(await height()).toBeGreaterThanOrEqual(heightBefore);
  // A focused row stays fully rendered, however far away.
  await boxOf(rows.first()).focus();
  await page.keyboard.press('Space');
  await page.getByText('2 selected').waitFor();
  await page.getByRole('link', { name: 'Order 150', exact: true }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await page.getByText('3 selected').waitFor();
  await expect.poll(() => boxOf(rows.filter({ hasText: 'Order 149' })).isChecked()).toBe(true);
  expectNoComplaints(opened);
});

test('going back restores the loaded pages and the position, opening anew shows the latest', async () => {
  const workflowId = await world.createWorkflow(editor, 'sleeping');
  const lastId = await insertMany(workflowId, 260, 'completed');
  const opened = await world.openFor(editor, `executions?workflow=${workflowId}&range=hour`);
  const { page } = opened;
  const rows = await showRows(page, 200);
  const row = page.locator(`[data-execution="${lastId - 160}"]`);
  const isInSight = () =>
    row.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top >= 0 && bottom <= window.innerHeight;
    });
  await row.scrollIntoViewIfNeeded();
  await row.locator('a[data-row-link]').click();
  await page.getByRole('heading', { name: 'Order 100' }).waitFor();
  await page.goBack();
  await expect.poll(() => rows.count()).toBe(200);
  await expect.poll(isInSight).toBe(true);
  await page.getByRole('button', { name: 'Load more' }).click();
  await expect.poll(() => rows.count()).toBe(250);
  await page.getByRole('link', { name: 'Workflows', exact: true }).click();
  await page.getByRole('heading', { name: 'Workflows' }).waitFor();
  await page.getByRole('link', { name: 'Executions', exact: true }).click();
  await expect.poll(() => rows.count()).toBe(50);
  expectNoComplaints(opened);
});

test('a search continues by itself until something matches, or says that nothing does', async () => {
  const workflowId = await world.createWorkflow(editor, 'orders');
  await insertMany(workflowId, 25_000, 'completed');
  const opened = await world.openFor(editor, `executions?workflow=${workflowId}&text=very+first`);
  const { page } = opened;
  await page.getByRole('link', { name: 'The very first' }).waitFor();
  await page.getByText('No more executions.').waitFor();
  await page.getByRole('textbox', { name: 'Search by name' }).fill('nowhere');
  await page.getByText('No matching executions', { exact: true }).waitFor();
  expect(await page.getByText('Searched back to').count()).toBe(0);
  expectNoComplaints(opened);
});

test('a browser whose clock is wrong shows the right duration', async () => {
  const id = await world.execute(editor, await world.createWorkflow(editor, 'sleeping'));
  const { page } = await world.openFor(editor, 'executions', { isFresh: true });
  await page.clock.install({ time: Date.now() + 7_200_000 });
  await page.goto(`${world.url}/o/${editor.organisationId}/executions/${id}`);
  const row = page.locator('dl > div').filter({ hasText: 'Duration' }).first();
  await expect.poll(() => row.textContent()).toMatch(/^Duration(?:\d min )?[\d.]+ (ms|s)$/);
  await expect.poll(() => page.getByRole('region', { name: 'Waiting' }).textContent()).toMatch(/5\d min/);
});
