import { createPerson } from '@millrace/testing/admin';
import { startHttp } from '@millrace/testing/test-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exampleFile, Helpdesk } from '../../own-connectors/test/world.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { canvasNode, keptDraft } from './support/canvas.ts';
import { chooseNode, editorOf, templateField } from './support/editor.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ config: { allowHosts: ['127.0.0.1'] } });
});
afterAll(() => world.stop());

test('a connector is uploaded in the settings, found in the palette, filled in and run', async () => {
  const admin = await createPerson(world.service, 'org_admin');
  const helpdesk = new Helpdesk();
  const { url } = await startHttp(helpdesk.listener);
  const file = await exampleFile(url);
  const params = { org: admin.organisationId };
  const credential = { type: 'bearer', hosts: ['127.0.0.1'], fields: { token: 'a-secret-token' } };
  await admin.call('POST /orgs/:org/credentials', { params, body: { name: 'Support', ...credential } });

  const opened = await world.openFor(admin, 'settings');
  const { page } = opened;
  const section = page.getByRole('region', { name: 'Connectors' });
  const choose = (name: string, content: object) =>
    section.locator('input[type=file]').setInputFiles({
      name,
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(content)),
    });
  await choose('wrong.json', { ...file, hosts: ['example.com'] });
  const alert = section.getByRole('alert');
  await alert.getByText("wrong.json can't be used").waitFor();
  expect(await alert.textContent()).toContain('/hosts does not list 127.0.0.1');
  await choose('helpdesk.json', file);
  await section.getByRole('group', { name: 'Helpdesk' }).waitFor();
  await alert.waitFor({ state: 'detached' });
  await section.getByText('2 operations · 1 trigger · 0 workflows').waitFor();

  const flow = { nodes: [{ id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 } }], edges: [] };
  const made = await admin.call('POST /orgs/:org/workflows', {
    params,
    body: { name: 'Tickets', flow_data: flow as never },
  });
  await page.goto(`${world.url}/o/${admin.organisationId}/workflows/${made.data.workflow.id}`);
  await canvasNode(page, 'start').click();
  await page.keyboard.press('/');
  await page.getByRole('group', { name: 'Helpdesk', exact: true }).waitFor();
  await chooseNode(page, 'create a ticket');
  const { panel, bottom } = editorOf(page);
  // The only one that fits is chosen by itself.
  const credentialField = panel.getByRole('combobox', { name: 'Credential' });
  await expect.poll(() => credentialField.inputValue(), { timeout: 60_000 }).toContain('Support');
  await templateField(panel, 'Queue').fill('billing');
  await templateField(panel, 'Subject').fill('It smokes');
  await keptDraft(page);
  await bottom.getByRole('tab', { name: 'Run', exact: true }).click();
  await bottom.getByRole('button', { name: 'Run', exact: true }).click();
  await bottom.getByText('Completed').waitFor();
  expect(helpdesk.tickets).toEqual([{ id: 1, subject: 'It smokes' }]);
  expectNoComplaints(opened);
});

test('its file is replaced, workflows are updated, and it is deleted when none has it', async () => {
  const admin = await createPerson(world.service, 'org_admin');
  const params = { org: admin.organisationId };
  const file = await exampleFile();
  const upload = (content: object) =>
    admin.call('POST /orgs/:org/connectors', { params, body: { file: JSON.stringify(content) } });
  await upload(file);
  const nodes = [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 } },
    { id: 'a', type: 'own.helpdesk.list_tickets', position: { x: 240, y: 0 } },
  ];
  const flow = { nodes, edges: [{ source: 'start', target: 'a' }] };
  const made = await admin.call('POST /orgs/:org/workflows', {
    params,
    body: { name: 'Tickets', flow_data: flow as never },
  });
  await upload({ ...file, title: 'Support desk', ja: {} });
  const opened = await world.openFor(admin, 'settings');
  const section = opened.page.getByRole('region', { name: 'Connectors' });
  const item = section.getByRole('group', { name: 'Support desk' });
  await item.getByText('1 workflow runs with an earlier revision.').waitFor();
  await item.getByRole('button', { name: 'Update them' }).click();
  await item.getByText('1 workflow runs with an earlier revision.').waitFor({ state: 'detached' });
  const remove = async () => {
    await item.getByRole('button', { name: 'Delete Support desk' }).click();
    await opened.page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  };
  await remove();
  await opened.page.getByText(`Used by the workflows ${made.data.workflow.id} ("Tickets").`).waitFor();
  await opened.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await admin.call('POST /orgs/:org/workflows/:id/archive', {
    params: { ...params, id: made.data.workflow.id },
  });
  await remove();
  await item.waitFor({ state: 'detached' });
  expectNoComplaints(opened);
});
