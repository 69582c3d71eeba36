import { randomBytes } from 'node:crypto';
import { type McpTestServer, startMcpServer } from '@millrace/testing/mcp-server';
import { addModelCredential } from '@millrace/testing/model-credential';
import { type ModelServer, startModelServer } from '@millrace/testing/model-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { flowOf } from './executions-world.ts';
import { expectAccessible } from './support/accessible.ts';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { editorOf, templateField } from './support/editor.ts';

let world: BrowserService;
let model: ModelServer;
let mcp: McpTestServer;
beforeAll(async () => {
  model = await startModelServer({
    answer: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? 'Done.'
        : {
            toolCalls: [
              { name: 'shop_refund', arguments: { order: 17, amount: 250 } },
              { name: 'shop_refund', arguments: { order: 18, amount: 300 } },
            ],
          },
  });
  mcp = await startMcpServer({
    tools: [{ name: 'refund', inputSchema: { type: 'object', properties: { order: {}, amount: {} } } }],
    call: () => ({ content: [{ type: 'text', text: 'Paid back.' }] }),
  });
  world = await openBrowserService({
    config: { allowHosts: ['127.0.0.1'], secretKeys: { current: randomBytes(32), previous: [] } },
  });
});
afterAll(async () => {
  await world.stop();
  await model.close();
  await mcp.close();
});

test('an author has calls of a server approved; the execution shows who decided what', async () => {
  const opened = await world.openAs('editor', 'workflows');
  const { page, person } = opened;
  const fields = { provider: 'anthropic', base_url: model.baseUrl('anthropic'), api_key: 'sk-test' };
  const config = {
    credential_id: await addModelCredential(world.service, person.organisationId, fields),
    model: 'claude-sonnet-4-5',
    prompt: 'Help.',
    tools: [
      {
        ...{
          kind: 'node',
          name: 'mail',
          description: 'Sends a mail.',
          type: 'core.set',
          config: { values: {} },
        },
        parameters: { type: 'object', properties: {} },
      },
    ],
    mcp_servers: [{ name: 'shop', url: mcp.url, tools: ['refund'] }],
  };
  const agent = {
    id: 'agent',
    type: 'ai.agent',
    position: { x: 260, y: 80 },
    data: { label: 'Help', config },
  };
  const { data } = await person.call('POST /orgs/:org/workflows', {
    params: { org: person.organisationId },
    body: { name: 'Support', flow_data: flowOf([agent], ['start>agent']) as never },
  });
  const workflow = data.workflow.id;
  await page.goto(`${world.url}/o/${person.organisationId}/workflows/${workflow}`);
  const editor = editorOf(page);
  await editor.node('agent').click();
  const { panel } = editor;

  // A tool: the further settings appear with the choice that needs them.
  await panel.getByRole('button', { name: /^mail/ }).click();
  const approval = panel.getByRole('combobox', { name: 'Approval', exact: true });
  expect(await templateField(panel, 'Condition').count()).toBe(0);
  await approval.first().click();
  await page.getByRole('option', { name: 'Under a condition' }).click();
  await templateField(panel, 'Condition').click();
  await page.keyboard.type('{{args.urgent}}');
  await panel.getByRole('switch', { name: 'Arguments can be changed' }).first().check();
  await expectAccessible(page);
  // The server: all of its tools.
  await approval.last().click();
  await page.getByRole('option', { name: 'Always' }).click();
  await page.keyboard.press('ControlOrMeta+S');
  await editor.state.getByText('Saved (v2)').waitFor();
  const { data: saved } = await person.call('GET /orgs/:org/workflows/:id', {
    params: { org: person.organisationId, id: workflow },
  });
  const stored = (
    saved.flow_data as unknown as { nodes: { id: string; data: { config: object } }[] }
  ).nodes.find(({ id }) => id === 'agent');
  expect(stored?.data.config).toMatchObject({
    tools: [{ approval: 'when', approval_when: '{{args.urgent}}', approval_edit: true }],
    mcp_servers: [{ name: 'shop', approval: 'always' }],
  });

  const key = await world.service.createKey({ organisationId: person.organisationId });
  const started = await world.service.api('POST', `/workflows/${workflow}/execute`, { key, body: {} });
  const id: number = started.json.execution_id;
  await page.goto(`${world.url}/o/${person.organisationId}/executions/${id}`);
  const waits = page.getByRole('region', { name: 'Waiting' });
  await waits.getByRole('button', { name: 'Approve' }).click();
  const dialog = page.getByRole('dialog');
  // What is decided about is shown, not only its name.
  await dialog.getByText(/"order": 17/).waitFor();
  await dialog.getByRole('checkbox', { name: '2. shop_refund' }).uncheck();
  await dialog.getByRole('textbox', { name: /Comment/ }).fill('Only order 17.');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await page.locator('[data-status="completed"]').waitFor();
  const decisions = page.getByRole('region', { name: 'Decisions' });
  const decided = decisions.getByRole('listitem', { name: 'shop_refund' });
  await decided.getByText('Approve', { exact: true }).waitFor();
  await decided.getByText(`by ${person.email}`).waitFor();
  await decided.getByText('Only order 17.').waitFor();
  await decided.getByText(/"order": 17/).waitFor();
  expect(await decided.getByText(/^[12]\. shop_refund: (?:Yes|No)$/).allTextContents()).toEqual([
    '1. shop_refund: Yes',
    '2. shop_refund: No',
  ]);
  expect(mcp.calls).toEqual([{ name: 'refund', arguments: { order: 17, amount: 250 } }]);
  await expectAccessible(page, 'main');
  await decided.getByRole('button', { name: 'Help' }).click();
  await page.getByRole('complementary', { name: 'agent' }).waitFor();
  expectNoComplaints(opened);

  const there = await world.openFor(person, `executions/${id}`, { language: 'ja' });
  const region = there.page.getByRole('region', { name: '回答の結果' });
  await region.getByText(`回答者: ${person.email}`).waitFor();
  await region.getByText('Only order 17.').waitFor();
  await there.page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(() => there.page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});
