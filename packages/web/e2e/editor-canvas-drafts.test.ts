import type { Flow } from '@millrace/engine';
import { hashPassword } from '@millrace/identity/users/passwords';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BorrowOptions } from './support/browser-pages.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import {
  canvasNode,
  draftOf,
  eventually,
  hasFetched,
  hasReserve,
  keptDraft,
  openEditor,
  stillCanvas,
} from './support/canvas.ts';
import { chooseNode, createWorkflow } from './support/editor.ts';
import { signIn } from './support/sign-in.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());

const PASSWORD = 'difference engine';

const FLOW: Flow = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 } },
    {
      id: 'set',
      type: 'core.set',
      position: { x: 260, y: 0 },
      data: { label: 'First', config: { values: {} } },
    },
  ],
  edges: [{ id: 'a', source: 'start', target: 'set' }],
};

const openFlow = (person: TestPerson, id: number, options: BorrowOptions = {}) =>
  openEditor(world, person, id, options);

async function addNode(page: Page, search: string): Promise<void> {
  await page.keyboard.press('/');
  await chooseNode(page, search);
}

const ids = (flow: Flow) => flow.nodes.map(({ id }) => id);

describe('drafts', () => {
  test('a change is saved by itself, is only mine, and is still there later', async () => {
    const person = await createPerson(world.service, 'editor');
    const other = await createPerson(world.service, 'editor', { organisationId: person.organisationId });
    const id = await createWorkflow(person, 'Orders', FLOW);
    const mine = await openFlow(person, id);
    await addNode(mine.page, 'code');
    await keptDraft(mine.page);
    await mine.page.reload();
    await canvasNode(mine.page, 'code').waitFor();
    await mine.page.getByText('Saved as draft').waitFor();
    const theirs = await openFlow(other, id);
    await expect.poll(() => theirs.page.locator('.react-flow__node').count()).toBe(2);
    await theirs.page.getByText('has unsaved changes to this workflow').waitFor();
    expectNoComplaints(mine);
  });

  test('changes in the moment before leaving the page are not lost', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await createWorkflow(person, 'Orders', FLOW);
    const opened = await openFlow(person, id);
    await addNode(opened.page, 'code');
    await canvasNode(opened.page, 'code').waitFor();
    await opened.page.goto(`${world.url}/healthz`);
    await eventually(async () => ids(await draftOf({ person, id }))).toEqual(['start', 'set', 'code']);
  });

  test('what could not be sent is kept in the browser, and saved at the next visit', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await createWorkflow(person, 'Orders', FLOW);
    const { page, context } = await openFlow(person, id);
    await context.route('**/draft', (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    );
    await addNode(page, 'code');
    await page.getByText('Draft not saved').waitFor();
    await page
      .getByText(
        "Couldn't reach the service. Your changes are kept in this browser, even if you close the page.",
      )
      .waitFor();
    page.on('dialog', (dialog) => void dialog.accept());
    await page.goto(`${world.url}/healthz`);
    await context.unroute('**/draft');
    await page.goto(`${world.url}/o/${person.organisationId}/workflows/${id}`);
    await canvasNode(page, 'code').waitFor();
    await eventually(async () => ids(await draftOf({ person, id }))).toEqual(['start', 'set', 'code']);
  });

  test('editing continues offline; when the connection is back, the draft is saved by itself', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await createWorkflow(person, 'Orders', FLOW);
    const { page, context } = await openFlow(person, id, { isFresh: true });
    await hasReserve(page);
    await context.setOffline(true);
    await addNode(page, 'code');
    await page.getByText('Draft not saved').waitFor();
    // Each part that failed to load shows an error in its place.
    await page.getByText("Couldn't load this part").first().waitFor();
    await addNode(page, 'delay');
    await canvasNode(page, 'delay').waitFor();
    await context.setOffline(false);
    await keptDraft(page);
    expect(ids(await draftOf({ person, id }))).toEqual(['start', 'set', 'code', 'delay']);
    // The button asks the service first: until the answer, a click would still meet the page before.
    const reloaded = page.waitForEvent('load');
    await page.getByRole('button', { name: 'Reload' }).first().click();
    await reloaded;
    await stillCanvas(page);
    await canvasNode(page, 'delay').click();
    await page.getByRole('textbox', { name: 'Node name' }).waitFor();
  });

  test("what was left in the browser is not lost and doesn't overwrite a draft that changed elsewhere", async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await createWorkflow(person, 'Orders', FLOW);
    const { page: closed, context } = await openFlow(person, id, { isFresh: true });
    await hasReserve(closed);
    await context.setOffline(true);
    await addNode(closed, 'code');
    await closed.getByText('Draft not saved').waitFor();
    // The browser crashes: nothing is sent during unload.
    await closed.goto('chrome://crash').catch(() => undefined);
    await closed.close();
    await context.setOffline(false);
    const elsewhere = await openFlow(person, id);
    await addNode(elsewhere.page, 'delay');
    await keptDraft(elsewhere.page);
    const page = await context.newPage();
    await page.goto(`${world.url}/o/${person.organisationId}/workflows/${id}`);
    const dialog = page.getByRole('dialog', { name: 'Your draft was changed elsewhere' });
    await dialog.getByText('added by you here').waitFor();
    expect(ids(await draftOf({ person, id }))).toEqual(['start', 'set', 'delay']);
    await dialog.getByRole('button', { name: 'Continue with selection' }).click();
    await eventually(async () => ids(await draftOf({ person, id }))).toEqual([
      'start',
      'set',
      'code',
      'delay',
    ]);
  });

  test('after the session ends midway, the user signs in again and continues', async () => {
    const person = await createPerson(world.service, 'editor');
    const { db } = world.service.database;
    await db.query('UPDATE users SET password_hash = $2 WHERE id = $1', [
      person.userId,
      await hashPassword(PASSWORD),
    ]);
    const id = await createWorkflow(person, 'Orders', FLOW);
    const opened = await openFlow(person, id);
    const { page } = opened;
    // The change is what meets the end of the session, not what the palette loads before it.
    await page.keyboard.press('/');
    await hasFetched(page, '/node-types', '/connectors', '/connector-types');
    await db.query('DELETE FROM sessions WHERE user_id = $1', [person.userId]);
    await chooseNode(page, 'code');
    await page.getByText('Your session has ended. Sign in again to pick up where you left off.').waitFor();
    await signIn(page, person.email, PASSWORD);
    await page.waitForURL(new RegExp(`/workflows/${id}$`));
    await canvasNode(page, 'code').waitFor();
    await keptDraft(page);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(
      await page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('unkept'))),
    ).toEqual([]);
    expectNoComplaints(opened);
  });

  test('two tabs of one person: the later one is asked, nothing is overwritten', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await createWorkflow(person, 'Orders', FLOW);
    const [first, second] = [await openFlow(person, id), await openFlow(person, id)];
    await addNode(first.page, 'code');
    await keptDraft(first.page);
    await addNode(second.page, 'delay');
    const dialog = second.page.getByRole('dialog', { name: 'Your draft was changed elsewhere' });
    await dialog.waitFor();
    expect(ids(await draftOf({ person, id }))).toEqual(['start', 'set', 'code']);
    await dialog.getByRole('button', { name: 'Use the other draft' }).click();
    await canvasNode(second.page, 'code').waitFor();
    expect(await canvasNode(second.page, 'delay').count()).toBe(0);
  });
});

describe('saving', () => {
  test('if someone else has saved, both are shown, and mine is saved only on request', async () => {
    const person = await createPerson(world.service, 'editor');
    const other = await createPerson(world.service, 'editor', { organisationId: person.organisationId });
    const id = await createWorkflow(person, 'Orders', FLOW);
    const [mine, theirs] = [await openFlow(person, id), await openFlow(other, id)];
    await addNode(theirs.page, 'delay');
    await theirs.page.keyboard.press('Control+s');
    await theirs.page.getByText('Saved (v2)').waitFor();
    await addNode(mine.page, 'code');
    await canvasNode(mine.page, 'code').waitFor();
    await mine.page.keyboard.press('Control+s');
    const dialog = mine.page.getByRole('dialog', { name: 'Someone else saved this workflow' });
    const changes = dialog.getByRole('list', { name: 'Changes' });
    await changes.getByText('added by Test editor').waitFor();
    await changes.getByText('added by you here').waitFor();
    await dialog.getByText('JSON', { exact: true }).click();
    await dialog.locator('.cm-changedLine').first().waitFor();
    const params = { org: person.organisationId, id };
    const before = await person.call('GET /orgs/:org/workflows/:id', { params });
    expect(before.data.version).toBe(2);
    await dialog.getByRole('button', { name: 'Overwrite with mine' }).click();
    await mine.page.getByText('Saved (v3)').waitFor();
    const after = await person.call('GET /orgs/:org/workflows/:id', { params });
    expect(ids(after.data.flow_data as unknown as Flow)).toEqual(['start', 'set', 'code']);
    expectNoComplaints(mine);
  });

  test('with a message, into a history that shows changes and can go back', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await createWorkflow(person, 'Orders', FLOW);
    const opened = await openFlow(person, id);
    const { page } = opened;
    await addNode(page, 'code');
    await page.getByRole('button', { name: 'Save with a message' }).click();
    await page.getByRole('textbox', { name: 'What changed?' }).fill('Computes the price');
    await page.keyboard.press('Enter');
    await page.getByText('Saved (v2)').waitFor();
    await page.getByRole('link', { name: /Version history$/ }).click();
    const dialog = page.getByRole('region', { name: 'Version history' });
    await dialog.getByText('Computes the price').waitFor();
    await dialog.getByRole('list', { name: 'Changes' }).getByText('Code').first().waitFor();
    await dialog.getByRole('button', { name: /^Pin version 1\b/ }).click();
    await dialog
      .getByRole('list', { name: /^Pinned/ })
      .getByRole('button', { name: /^Unpin version 1\b/ })
      .waitFor();
    await dialog
      .getByRole('list', { name: /^Pinned/ })
      .getByRole('button', { name: /^Version 1/ })
      .click();
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await page
      .getByRole('dialog', { name: 'Restore version 1?' })
      .getByRole('button', { name: 'Restore' })
      .click();
    await page.getByText('Saved (v3)').waitFor();
    await canvasNode(page, 'code').waitFor({ state: 'detached' });
    const params = { org: person.organisationId, id };
    const { data } = await person.call('GET /orgs/:org/workflows/:id', { params });
    expect(data.flow_data).toEqual(FLOW);
    expect(data.has_draft).toBe(false);
    expectNoComplaints(opened);
  });

  test('stays on the canvas while the other tabs of the workflow are open, each with an address', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await createWorkflow(person, 'Orders', FLOW);
    const opened = await openFlow(person, id);
    const { page } = opened;
    await addNode(page, 'code');
    const tabs = page.getByRole('navigation', { name: 'Workflow' });
    const open = async (name: string, path: RegExp) => {
      await tabs.getByRole('link', { name }).focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(path);
      await expect.poll(() => tabs.getByRole('link', { name }).getAttribute('aria-current')).toBe('page');
    };
    const view = () => page.locator('.react-flow__viewport').getAttribute('style');
    await stillCanvas(page);
    const whole = await view();
    await page.keyboard.press('+');
    await expect.poll(view).not.toBe(whole);
    const seen = await view();
    await open('Settings', /\/settings$/);
    await page.waitForFunction(() => document.title === 'Settings · Orders · Millrace');
    const use = page.getByRole('region', { name: 'Status' });
    await use.getByText('forms and chats already start the saved version.').waitFor();
    await page.getByRole('textbox', { name: 'Description' }).fill('What arrives');
    await page
      .getByRole('region', { name: 'Name, description, tags' })
      .getByRole('button', { name: 'Save' })
      .click();
    await expect
      .poll(async () => {
        const params = { org: person.organisationId, id };
        return (await person.call('GET /orgs/:org/workflows/:id', { params })).data.description;
      })
      .toBe('What arrives');
    await open('Executions', /\/executions$/);
    await page.getByRole('region', { name: 'Executions' }).waitFor();
    await open('Versions', /\/versions$/);
    await page.getByRole('region', { name: 'Version history' }).getByText('Version 1').first().waitFor();
    await open('Editor', new RegExp(`/workflows/${id}$`));
    await canvasNode(page, 'code').waitFor();
    await expect.poll(view).toBe(seen);
    await page.keyboard.press('Control+z');
    await canvasNode(page, 'code').waitFor({ state: 'detached' });
    await page.goto(`${world.url}/o/${person.organisationId}/workflows/${id}/versions`);
    await page.getByRole('region', { name: 'Version history' }).waitFor();
    expectNoComplaints(opened);
  });

  test('changes are discarded on request', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await createWorkflow(person, 'Orders', FLOW);
    const opened = await openFlow(person, id);
    const { page } = opened;
    await addNode(page, 'code');
    await keptDraft(page);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Discard my changes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard my changes' }).click();
    await page.getByText('Saved (v1)').waitFor();
    await canvasNode(page, 'code').waitFor({ state: 'detached' });
    const { data } = await person.call('GET /orgs/:org/workflows/:id/draft', {
      params: { org: person.organisationId, id },
    });
    expect(data.draft).toBeNull();
    expectNoComplaints(opened);
  });

  test('a number beyond a double comes back unchanged', async () => {
    const person = await createPerson(world.service, 'editor');
    const id = await createWorkflow(person, 'Orders', FLOW);
    const url = `${world.url}/api/admin/orgs/${person.organisationId}/workflows/${id}`;
    const headers = {
      cookie: person.cookie,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
    };
    const flow = JSON.stringify({ ...FLOW, settings: { vars: { id: 'BIG' } } }).replace(
      '"BIG"',
      '9007199254740993',
    );
    const made = await fetch(`${url}/versions`, {
      method: 'POST',
      headers,
      body: `{"base_version":1,"flow_data":${flow}}`,
    });
    expect(made.status).toBe(200);
    const opened = await openFlow(person, id);
    await addNode(opened.page, 'code');
    await opened.page.keyboard.press('Control+s');
    await opened.page.getByText('Saved (v3)').waitFor();
    const text = await (await fetch(url, { headers })).text();
    expect(text).toContain('9007199254740993');
    expectNoComplaints(opened);
  });
});
