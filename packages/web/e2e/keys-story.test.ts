import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Body } from '@millrace/testing/api';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { copyWith } from './support/clipboard.ts';
import { createWorkflow, greetingFlow } from './support/editor.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService();
});
afterAll(() => world.stop());

/** Calls the public API like an external system. */
async function ask(key: string, path: string, body?: object): Promise<{ status: number; json: Body }> {
  const response = await fetch(`${world.url}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Body };
}

/** The service gets its port only after its address is configured, so commands need the real one. */
const ofThisPort = (command: string) => command.replace("'http://127.0.0.1/", `'${world.url}/`);

/** Creates a key with these scopes in the UI. @returns its secret as copied */
async function issue(page: Page, name: string, scopes: readonly string[]): Promise<string> {
  await page.getByRole('button', { name: 'Create a key' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Create a key' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
  for (const scope of scopes) await dialog.getByRole('checkbox', { name: scope, exact: false }).check();
  await dialog.getByRole('button', { name: 'Create key', exact: true }).click();
  return store(page, name);
}

/** Copies the secret, which is shown only once, and confirms that it is stored. */
async function store(page: Page, name: string): Promise<string> {
  const shown = page.getByRole('dialog', { name: `Copy ${name} now` });
  const secret = await copyWith(shown.getByRole('button', { name: 'Copy the key' }));
  await shown.getByRole('button', { name: 'Copied' }).waitFor();
  expect(secret).toMatch(/^mr_\w/);
  // An accidental key press must not close a dialog that is shown only once.
  await page.keyboard.press('Escape');
  await shown.getByText(`Authorization: Bearer ${secret}`).waitFor();
  await shown.getByRole('button', { name: 'I have saved the key' }).click();
  await expect.poll(() => shown.count()).toBe(0);
  return secret;
}

async function act(page: Page, name: string, action: string): Promise<void> {
  await page
    .getByRole('button', { name: `More for ${name}` })
    .first()
    .click();
  await page.getByRole('menuitem', { name: action }).click();
}

const wrong = (key: string) => `${key.slice(0, -10)}${key.at(-10) === 'A' ? 'B' : 'A'}${key.slice(-9)}`;

test('a key is issued on the page, starts a workflow through the public API, and can do nothing else', async () => {
  const opened = await world.openAs('org_admin', 'keys');
  const { page, person } = opened;
  const id = await createWorkflow(person, 'Greeting', greetingFlow('Hello {{trigger.data.name}}'));
  const key = await issue(page, 'Nightly import', ['executions:execute', 'executions:read']);
  await page
    .getByRole('row', { name: /Nightly import/ })
    .getByText('Never used')
    .waitFor();
  expect(await page.getByText(key).count()).toBe(0);

  const started = await ask(key, `/workflows/${id}/execute`, { input_data: { name: 'Ada' } });
  expect(started.status).toBe(202);
  const ended = await ask(key, `/executions/${started.json.execution_id}?wait=30`);
  expect(ended.json).toMatchObject({
    status: 'completed',
    node_outputs: { greet: { output: { text: 'Hello Ada' } } },
  });
  expect((await ask(key, '/workflows')).status).toBe(403);

  await page.reload();
  const row = page.getByRole('row', { name: /Nightly import/ });
  await row.getByText('127.0.0.1').waitFor();
  await row.getByText(`…${key.slice(-4)}`).waitFor();
  await act(page, 'Nightly import', 'Revoke');
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No API keys yet').or(page.getByText('All keys have ended')).first().waitFor();
  const refused = await ask(key, `/executions/${started.json.execution_id}`);
  expect([refused.status, refused.json.code]).toEqual([401, 'key_revoked']);
  expectNoComplaints(opened);
});

/** Runs a command pasted into a terminal. */
async function paste(command: string): Promise<Body> {
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  return JSON.parse(stdout) as Body;
}

test('the command shown with a key does what its scopes allow when pasted', async () => {
  const opened = await world.openAs('org_admin', 'keys');
  const { page, person } = opened;
  const id = await createWorkflow(person, "Ada's greeting", greetingFlow('Hello'));
  const answers: Body[] = [];
  for (const scope of ['workflows:read', 'executions:read', 'executions:execute', 'workflows:write']) {
    await page.getByRole('button', { name: 'Create a key' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Create a key' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill(`For ${scope}`);
    await dialog.getByRole('checkbox', { name: scope, exact: false }).check();
    await dialog.getByRole('button', { name: 'Create key', exact: true }).click();
    const command = await copyWith(page.getByRole('button', { name: 'Copy the command' }));
    expect(command.includes('WORKFLOW_ID')).toBe(await page.getByText('with a workflow ID').isVisible());
    answers.push(await paste(ofThisPort(command.replace('WORKFLOW_ID', String(id)))));
    await page.getByRole('button', { name: 'I have saved the key' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  expect(answers).toEqual([
    expect.objectContaining({ data: [expect.objectContaining({ name: "Ada's greeting" })] }),
    expect.objectContaining({ data: [] }),
    expect.objectContaining({ execution_id: expect.any(Number) }),
    expect.objectContaining({ name: 'First workflow' }),
  ]);
  expectNoComplaints(opened);
});

test('a rotated key works beside its successor, and the page shows where it is still used', async () => {
  const opened = await world.openAs('org_admin', 'keys');
  const { page } = opened;
  const old = await issue(page, 'Shop', ['workflows:read']);
  await act(page, 'Shop', 'Rotate');
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  const fresh = await store(page, 'Shop');
  expect(fresh).not.toBe(old);

  const oldRow = page.getByRole('row', { name: /Rotated/ });
  await oldRow.getByText(/Still works for 23 h/).waitFor();
  await oldRow.getByText('Not used since the rotation').waitFor();
  expect((await ask(fresh, '/workflows')).status).toBe(200);
  expect((await ask(old, '/workflows')).status).toBe(200);
  await page.reload();
  await oldRow.getByText('Still used since the rotation, from').waitFor();
  await oldRow.getByText('127.0.0.1 (now)').waitFor();
  // A key that is being replaced can't be rotated again.
  await oldRow.getByRole('button', { name: 'More for Shop' }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).waitFor();
  expect(await page.getByRole('menuitem', { name: 'Rotate' }).count()).toBe(0);
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expect.poll(() => oldRow.count()).toBe(0);
  expect((await ask(old, '/workflows')).status).toBe(401);
  expect((await ask(fresh, '/workflows')).status).toBe(200);
  expectNoComplaints(opened);
});

test('ten wrong secrets lock a key, and it is unlocked on the page', async () => {
  const opened = await world.openAs('org_admin', 'keys');
  const { page } = opened;
  const key = await issue(page, 'Reports', ['workflows:read']);
  for (let count = 0; count < 10; count += 1) {
    expect((await ask(wrong(key), '/workflows')).json.code).toBe('invalid_key');
  }
  const locked = await ask(key, '/workflows');
  expect([locked.status, locked.json.code]).toEqual([401, 'key_locked']);

  await page.reload();
  const row = page.getByRole('row', { name: /Reports/ });
  await row.getByText('Locked', { exact: true }).waitFor();
  await act(page, 'Reports', 'Unlock');
  await page.getByRole('dialog').getByRole('button', { name: 'Unlock' }).click();
  await row.getByText('Valid', { exact: true }).waitFor();
  expect((await ask(key, '/workflows')).status).toBe(200);
  expectNoComplaints(opened);
});
