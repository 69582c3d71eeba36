import type { Flow } from '@millrace/engine';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { boxOf, canvasNode, openFlow as openIn } from './support/canvas.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService();
});
afterAll(() => world.stop());

const set = (id: string, x: number, values: object) => ({
  id,
  type: 'core.set',
  position: { x, y: 0 },
  data: { label: id, config: { values } },
});
const FLOW = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 } },
    set('double', 240, { name: '{{trigger.data.name}}' }),
    set('greet', 480, { text: 'Hello {{nodes.double.output.name}}' }),
  ],
  edges: [
    { id: 'a', source: 'start', target: 'double' },
    { id: 'b', source: 'double', target: 'greet' },
  ],
} as unknown as Flow;

async function openFlow(flow: Flow) {
  const opened = await openIn(world, flow);
  const panel = opened.page.getByRole('region', { name: 'Problems and runs' });
  await panel.getByRole('tab', { name: 'Run', exact: true }).click();
  return { ...opened, panel };
}

async function writeInput(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Input' }).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

describe('trying a workflow', () => {
  test('runs what is on the canvas, shows each node on it, and its input and output', async () => {
    const opened = await openFlow(FLOW);
    const { page, panel } = opened;
    await writeInput(page, '{"name":"Anneke"}');
    await panel.getByRole('button', { name: 'Run', exact: true }).click();
    await panel.getByText('Completed').waitFor();
    for (const id of ['start', 'double', 'greet']) {
      await canvasNode(page, id).getByText('Succeeded').waitFor();
      const mark = await boxOf(canvasNode(page, id).locator('.flow-run'));
      const title = await boxOf(canvasNode(page, id).locator('.flow-node-title'));
      expect(mark.y + mark.height).toBeLessThanOrEqual(title.y);
    }
    await panel.getByRole('button', { name: 'greet' }).click();
    await panel.getByText('Hello Anneke').waitFor();
    await panel.getByRole('tab', { name: 'Input' }).click();
    await panel.getByText('"Anneke"').last().waitFor();
    expectNoComplaints(opened);
  });

  test("runs an unsaved change, which the public API doesn't see", async () => {
    const opened = await openFlow(FLOW);
    const { page, panel, person, id } = opened;
    await canvasNode(page, 'greet').click();
    await page.getByRole('textbox', { name: 'Node name' }).fill('Say hello');
    await panel.getByRole('button', { name: 'Run', exact: true }).click();
    await panel.getByText('Completed').waitFor();
    const { data } = await person.call('GET /orgs/:org/workflows/:id', {
      params: { org: person.organisationId, id },
    });
    expect(data.version).toBe(1);
    expectNoComplaints(opened);
  });

  test('runs one node with the outputs of the last run, and with a pinned one', async () => {
    const opened = await openFlow(FLOW);
    const { page, panel } = opened;
    await writeInput(page, '{"name":"Anneke"}');
    await panel.getByRole('button', { name: 'Run', exact: true }).click();
    await panel.getByText('Completed').waitFor();
    await panel.getByRole('button', { name: 'greet' }).click();
    const shown = panel.getByRole('link', { name: /^Execution \d+$/ });
    const first = await shown.textContent();
    await panel.getByRole('button', { name: 'Run only this node' }).click();
    // What the first one showed is gone with its number.
    await expect.poll(() => shown.textContent()).not.toBe(first);
    await panel.getByText('Completed').waitFor();
    await panel.getByText('Hello Anneke').waitFor();
    await panel.locator('.editor-one-node').getByRole('button', { name: 'double' }).click();
    const pin = panel.getByRole('textbox', { name: 'Output of double' });
    await pin.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText('{"name":"Bo"}');
    await panel.getByRole('button', { name: 'Run only this node' }).click();
    await panel.getByText('Hello Bo').waitFor();
    expectNoComplaints(opened);
  });

  test('a running one is cancelled', async () => {
    const opened = await openFlow({
      ...FLOW,
      nodes: [
        FLOW.nodes[0] as never,
        {
          id: 'double',
          type: 'core.delay',
          position: { x: 240, y: 0 },
          data: { config: { duration: { amount: 1, unit: 'hours' } } },
        },
        set('greet', 480, {}) as never,
      ],
    });
    const { page, panel } = opened;
    await panel.getByRole('button', { name: 'Run', exact: true }).click();
    await canvasNode(page, 'double').getByText('Waiting').waitFor();
    await panel.getByRole('button', { name: 'Cancel' }).click();
    await panel.getByText('Cancelled').first().waitFor();
    await canvasNode(page, 'double').getByText('Cancelled').waitFor();
    expectNoComplaints(opened);
  });

  test('the input is a form if the workflow has a schema', async () => {
    const opened = await openFlow({
      ...FLOW,
      settings: {
        input_schema: {
          type: 'object',
          properties: { name: { type: 'string', title: 'Name of the guest' } },
          required: ['name'],
        },
      },
    });
    const { panel } = opened;
    await panel.getByRole('textbox', { name: 'Name of the guest' }).fill('Cem');
    await panel.getByRole('button', { name: 'Run', exact: true }).click();
    await panel.getByText('Completed').waitFor();
    await panel.getByRole('button', { name: 'greet' }).click();
    await panel.getByText('Hello Cem').waitFor();
    expectNoComplaints(opened);
  });
});
