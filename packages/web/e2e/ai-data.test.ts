import { createVectorService } from '@millrace/ports/vectors';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible } from './support/accessible.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';

const EVIL = '<img src=x onerror="document.title=\'taken over\'">';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService();
});
afterAll(() => world.stop());

async function fill({ organisationId, call }: TestPerson): Promise<void> {
  const { db } = world.service.deps;
  const vectors = createVectorService({ db, maxBytes: 0 })({ organisationId });
  const item = (key: string, text: string) => ({ key, text, metadata: { page: 3 }, vector: [3, 4] });
  await vectors.put('product guides', { model: 'embed-small', dimension: 2 }, [
    item('reset', `Reset the device ${EVIL}`),
    item('warranty', `Warranty: ${'two years. '.repeat(200)}The end.`),
  ]);
  const body = { name: 'Help desk', flow_data: RUNNABLE_FLOW as never };
  const { data } = await call('POST /orgs/:org/workflows', { params: { org: organisationId }, body });
  const turns = JSON.stringify([{ by: 'x', user: `Where is my order? ${EVIL}`, assistant: 'On its way.' }]);
  for (const key of ['ada', 'bob']) {
    await db.query(
      `INSERT INTO ai_memories (workflow_id, organisation_id, key, turns, summary, bytes, expires_at)
       VALUES ($1, $2, $3, $4, 'Ada asked about prices.', 10, now() + interval '1 day')`,
      [data.workflow.id, organisationId, key, turns],
    );
  }
}

test('a collection says how it is searched', async () => {
  const opened = await world.openAs('viewer', 'ai-data');
  const { page, person } = opened;
  await fill(await createPerson(world.service, 'editor', { organisationId: person.organisationId }));
  const { db } = world.service.deps;
  // As large as one that gets an index; the database of the tests has no pgvector.
  await db.query('UPDATE vector_collections SET items = 4000, dimension = 1536 WHERE organisation_id = $1', [
    person.organisationId,
  ]);
  await page.reload();
  await page.getByRole('cell', { name: 'None: no pgvector in the database' }).waitFor();
  await expectAccessible(page);
  const there = await world.openFor(person, 'ai-data', { language: 'ja' });
  await there.page.getByRole('cell', { name: 'なし（データベースに pgvector がない）' }).waitFor();
  await there.page.setViewportSize({ width: 390, height: 844 });
  await there.page.getByText('検索インデックス: なし（データベースに pgvector がない）').waitFor();
  expectNoComplaints(opened);
  expectNoComplaints(there);
});

test('collections and conversations are looked at, searched and deleted', async () => {
  const opened = await world.openAs('editor', 'ai-data');
  const { page, person } = opened;
  await page.getByRole('heading', { name: 'No collections yet' }).waitFor();
  // What there could be comes from templates.
  for (const [tab, template] of [
    ['Collections', /documents/i],
    ['Conversations', /support/i],
  ] as const) {
    await page.getByRole('tab', { name: tab }).click();
    await page.getByRole('link', { name: 'Show templates' }).click();
    await page.getByRole('article').filter({ hasText: template }).first().waitFor();
    await page.goBack();
  }
  await page.getByRole('tab', { name: 'Collections' }).waitFor();
  await fill(person);
  await page.reload();
  await page.getByRole('tab', { name: 'Collections' }).click();

  await page.getByRole('cell', { name: 'None: too small to need one' }).waitFor();
  await page.getByRole('button', { name: 'Show texts of product guides' }).click();
  const texts = page.getByRole('region', { name: 'product guides' });
  await texts.getByText(`Reset the device ${EVIL}`).waitFor();
  await texts.getByText('{"page":3}').first().waitFor();
  await texts.getByRole('textbox', { name: 'Search texts and keys' }).fill('WARRANTY');
  await texts.getByText('Reset the device').waitFor({ state: 'hidden' });
  await texts.getByRole('button', { name: 'Show the whole text' }).click();
  await texts.getByText('The end.').waitFor();
  await expectAccessible(page);
  await texts.getByRole('button', { name: 'Delete warranty' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('1 text deleted.').waitFor();
  await texts.getByText('Nothing found').waitFor();

  await page.getByRole('button', { name: 'Delete product guides' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete product guides' });
  await dialog.getByText('1 text and its vector are deleted for good.', { exact: false }).waitFor();
  expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('product guides');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No collections yet' }).waitFor();

  await page.getByRole('tab', { name: 'Conversations' }).click();
  await page.getByRole('button', { name: 'Show the conversation ada' }).click();
  const said = page.getByRole('region', { name: 'ada' });
  await said.getByText('Ada asked about prices.').waitFor();
  await said.getByText(`Where is my order? ${EVIL}`).waitFor();
  await said.getByText('On its way.').waitFor();
  await expectAccessible(page);
  await page.getByRole('textbox', { name: 'Search conversations and workflows' }).fill('bo');
  await page.getByRole('button', { name: 'Show the conversation ada' }).waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Forget bob' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
  await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
  expect(await page.title()).toContain('AI data');
  expectNoComplaints(opened);
});
