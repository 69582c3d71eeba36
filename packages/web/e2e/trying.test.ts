import type { Flow } from '@millrace/engine';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import { openFlow, stillCanvas } from './support/canvas.ts';
import { editorOf, templateField } from './support/editor.ts';
import { closeByEscape } from './support/focused.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService();
});
afterAll(() => world.stop());

const set = (id: string, x: number, values: object) => ({
  id,
  type: 'core.set',
  position: { x, y: 0 },
  data: { label: `The ${id}`, config: { values } },
});
const CHAIN: Flow = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
    set('first', 260, { said: 'as it was saved' }),
    set('second', 520, { heard: '{{nodes.first.output.said}}' }),
  ],
  edges: [
    { source: 'start', target: 'first' },
    { source: 'first', target: 'second' },
  ],
} as Flow;

async function openChain(flow: Flow = CHAIN) {
  const opened = await openFlow(world, flow);
  const { person, id } = opened;
  const pins = async () => {
    const params = { org: person.organisationId, id };
    const { data } = await person.call('GET /orgs/:org/workflows/:id/pins', { params });
    return data.items.map(({ node_id: node, output }) => [node, output]);
  };
  return { opened, page: opened.page, editor: editorOf(opened.page), person, pins };
}

test('an output is pinned, is there later, runs one node, and is unpinned', async () => {
  const { opened, page, editor, pins } = await openChain();
  await editor.node('first').click();
  await editor.panel.getByRole('tab', { name: 'Output' }).click();
  await editor.panel.getByRole('button', { name: 'Write and pin an output' }).click();
  await templateField(editor.panel, 'Pinned output as JSON').click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText('{"said": "pinned"}');
  await expect.poll(pins).toEqual([['first', { said: 'pinned' }]]);

  await page.reload();
  await editor.node('first').getByText('Pinned output').waitFor();
  await editor.node('second').click();
  // Template previews use the pinned output.
  await editor.panel.getByText('"pinned"').waitFor();
  await editor.bottom.getByRole('tab', { name: 'Run', exact: true }).click();
  await editor.bottom.getByRole('button', { name: 'Run only this node' }).click();
  await editor.bottom.getByText('Completed').waitFor();
  await editor.bottom.getByText('"pinned"').first().waitFor();

  await editor.bottom.getByRole('button', { name: /^The first · Pinned/ }).click();
  await editor.bottom.getByRole('button', { name: 'Unpin' }).click();
  await expect.poll(pins).toEqual([]);
  await expect.poll(() => editor.node('first').getByText('Pinned output').count()).toBe(0);
  expectNoComplaints(opened);
});

test('a run or activation refused for problems shows their list', async () => {
  const loose = { ...CHAIN, edges: [{ source: 'start', target: 'first' }] } as Flow;
  const { page, editor } = await openChain(loose);
  await editor.bottom.getByText('2 problems').waitFor();
  const problem = editor.bottom.getByText('Cannot be reached from a trigger');
  await editor.bar.getByRole('button', { name: 'Run', exact: true }).click();
  await problem.waitFor();
  await page.getByText('Fix these problems first.').waitFor();
  await editor.bottom.getByRole('button', { name: 'Close problems and runs' }).click();
  await editor.bar.getByRole('button', { name: /^Status:/ }).click();
  await page.getByRole('menuitem', { name: 'Activate' }).click();
  await problem.waitFor();
});

test('runs to a node, watches what others start, and runs again from the node that failed', async () => {
  const end = {
    id: 'end',
    type: 'core.fail',
    position: { x: 780, y: 0 },
    data: { label: 'The end', config: { message: 'Not today' } },
  };
  const { opened, page, editor, person } = await openChain({
    nodes: [...CHAIN.nodes, end],
    edges: [...CHAIN.edges, { source: 'second', target: 'end' }],
  } as Flow);
  const shown = editor.bottom.getByRole('link', { name: /^Execution \d+$/ });
  await editor.node('second').click();
  await editor.panel.getByRole('button', { name: 'Run this node' }).click();
  await page.getByRole('menuitem', { name: 'Run to here' }).click();
  await editor.panel.getByRole('button', { name: 'Close panel' }).click();
  await editor.bottom.getByText('Completed').waitFor();
  expect(
    await editor
      .node('end')
      .getByText(/Succeeded|Failed/)
      .count(),
  ).toBe(0);

  await editor.bar.getByRole('button', { name: 'Choose another input' }).click();
  await page.getByRole('menuitem', { name: 'Watch live' }).click();
  await editor.bottom.getByText('Waiting for the next execution').waitFor();
  const params = { org: person.organisationId, id: opened.id };
  const { data } = await person.call('POST /orgs/:org/workflows/:id/run', { params, body: {} });
  await editor.bottom.getByText(`Execution ${data.execution_id}`).waitFor();
  await editor.node('end').getByText('Failed').waitFor();
  await editor.bottom.getByRole('button', { name: 'Stop' }).click();

  // The menus of the list have the same.
  await editor.canvas.getByRole('button', { name: 'Show as a list' }).click();
  await page.getByRole('button', { name: 'Actions for The end' }).click();
  await page.getByRole('menuitem', { name: 'Rerun from here' }).click();
  await expect.poll(() => shown.textContent()).not.toBe(`Execution ${data.execution_id}`);
  await editor.canvas.getByRole('button', { name: 'Show as a canvas' }).click();
  await editor.node('end').getByText('Failed').waitFor();

  // From the failed execution to its fix: with its data, and on from where it failed.
  await shown.click();
  await page.getByRole('button', { name: 'Open in the editor with this data' }).click();
  const bar = page.getByRole('region', { name: /^Data of execution/ });
  await bar.getByRole('button', { name: '2 outputs pinned' }).click();
  const found = page.getByRole('dialog', { name: /outputs pinned/ });
  await found.getByText('Pinned outputs').waitFor();
  await closeByEscape(found);
  await editor.node('end').getByText('Failed').waitFor();
  await editor.node('second').getByText('Pinned output').waitFor();
  await editor.node('end').click();
  await page.keyboard.press('Delete');
  await bar.getByRole('button', { name: 'Save and rerun from the failed node' }).click();
  await editor.bottom.getByText('Completed').waitFor();
  const [, fixed = ''] = /execution=(\d+)/.exec(page.url()) ?? [];
  const at = { params: { org: person.organisationId, execution: Number(fixed) } };
  const { data: rerun } = await person.call('GET /orgs/:org/executions/:execution', at);
  expect(rerun.execution.workflow_version).toBeGreaterThan(1);
  expect(rerun.nodes.every((node) => node.is_taken_over)).toBe(true);
  expectNoComplaints(opened);
});

test('after the page was closed, templates still know the last outputs', async () => {
  const { opened, page, editor, person } = await openChain();
  await editor.bar.getByRole('button', { name: 'Run', exact: true }).click();
  await editor.bottom.getByText('Completed').waitFor();
  await page.close();
  const again = await world.openFor(person, new URL(page.url()).pathname);
  const later = editorOf(again.page);
  await later.node('second').click();
  await later.panel.getByText('"as it was saved"').waitFor();
  // Wide, data, form and output are side by side.
  const output = later.panel.getByRole('region', { name: 'Output' });
  expect(await output.count()).toBe(0);
  await again.page.keyboard.press('F2');
  await output.waitFor();
  await again.page.keyboard.press('F2');
  await output.waitFor({ state: 'detached' });
  // With its room back, the canvas moves: the second click would miss.
  await stillCanvas(again.page);
  await later.node('first').dblclick();
  await output.waitFor();
  await later.panel.getByRole('button', { name: 'Widen the node panel' }).click();
  await output.waitFor({ state: 'detached' });
  // A trigger reads nothing, but something comes out of it.
  await stillCanvas(again.page);
  await later.node('start').dblclick();
  await output.getByText('From the last execution:').waitFor();
  await again.page.keyboard.press('F2');
  await output.waitFor({ state: 'detached' });
  await later.node('first').click();
  await later.panel.getByRole('tab', { name: 'Output' }).click();
  await later.panel.getByText('From the last execution:').waitFor();
  await later.panel.getByRole('button', { name: 'Pin this output' }).click();
  await later.panel.getByRole('region', { name: 'Pinned output' }).getByText('"as it was saved"').waitFor();
  expectNoComplaints(opened);
  expectNoComplaints(again);
});

test('a run starts with the input that is shown, wherever it came from', async () => {
  const { opened, page, editor, person } = await openChain({
    ...CHAIN,
    settings: { input_schema: { type: 'object', properties: { order: { type: 'integer' } } } },
  } as Flow);
  const input = (source: string) =>
    editor.bottom.getByRole('radiogroup', { name: 'Input from' }).getByText(source, { exact: true }).click();
  const run = editor.bottom.getByRole('button', { name: 'Run', exact: true });
  const order = editor.bottom.getByRole('textbox', { name: 'order' });
  const inputs = async () => {
    const params = { org: person.organisationId, id: Number(opened.page.url().split('/').at(-1)) };
    const { data } = await person.call('GET /orgs/:org/workflows/:id/inputs', { params });
    return data.executions.map((each) => each.input);
  };
  await editor.bottom.getByRole('tab', { name: 'Run', exact: true }).click();
  await order.fill('41');
  await run.click();
  await editor.bottom.getByText('Completed').waitFor();
  // The latest one is selected, and the form starts from it.
  await input('Past execution');
  await editor.bottom.getByText('41').waitFor();
  await input('Form');
  await expect.poll(() => order.inputValue()).toBe('41');
  await order.fill('42');
  await run.click();
  await expect.poll(inputs).toEqual([{ order: 42 }, { order: 41 }]);

  // From a node's own menu, its line being clicked before the outputs that it passes on have loaded.
  await editor.bottom.getByText('Completed').waitFor();
  await editor.bottom.getByRole('button', { name: 'Clear' }).click();
  const { promise: isHeld, resolve: letThrough } = Promise.withResolvers<void>();
  await page.route('**/nodes/first', async (route) => {
    await isHeld;
    await route.continue();
  });
  await editor.node('second').click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Run only this node' }).click();
  letThrough();
  await editor.bottom.getByText('Completed').waitFor();
  await editor.bottom.getByText('"as it was saved"').first().waitFor();
  await editor.node('start').click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Open' }).waitFor();
  expect(await page.getByRole('menuitem', { name: /^(Run|Rerun) / }).count()).toBe(0);
  expectNoComplaints(opened);
});

test('numbers beyond a double stay exact, in samples, runs, pins and past inputs', async () => {
  const { opened, page, editor, person } = await openChain({
    ...CHAIN,
    nodes: [
      ...CHAIN.nodes.slice(0, 1),
      set('first', 260, { id: '{{trigger.data.id}}' }),
      set('second', 520, { heard: '{{nodes.first.output.id}}' }),
    ],
  } as Flow);
  const address = `${world.url}/api/admin/orgs/${person.organisationId}/workflows/${opened.id}`;
  const ask = async (path: string, body?: string) => {
    const headers = { cookie: person.cookie, 'sec-fetch-site': 'same-origin' };
    const sent = {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/json' },
      body: body ?? '',
    };
    return (await fetch(`${address}${path}`, body === undefined ? { headers } : sent)).text();
  };
  expect(await ask('/sample', '{"data":{"id":9007199254740993}}')).toContain('9007199254740993');
  await page.reload();
  // The second run refetches what the first one had fetched.
  for (const count of [1, 2]) {
    await editor.bar.getByRole('button', { name: 'Run', exact: true }).click();
    await editor.bottom.getByText('Completed').waitFor();
    await expect
      .poll(() => ask('/inputs'))
      .toMatch(new RegExp(`^(.*?"input":\\{"id":9007199254740993\\}){${count}}`));
    await editor.bottom.getByRole('button', { name: 'Clear' }).click();
  }
  await editor.node('first').click();
  await editor.panel.getByRole('tab', { name: 'Output' }).click();
  await editor.panel.getByRole('button', { name: 'Pin this output' }).click();
  await expect.poll(() => ask('/pins')).toContain('{"id":9007199254740993}');
  await templateField(editor.panel, 'Pinned output as JSON').click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText('{"id": 9007199254740995}');
  await expect.poll(() => ask('/pins')).toContain('{"id":9007199254740995}');
  await page.reload();
  await editor.node('second').click();
  await editor.panel.getByText('9007199254740995').first().waitFor();
  await editor.bottom.getByRole('tab', { name: 'Run', exact: true }).click();
  await editor.bottom.getByRole('button', { name: 'Run only this node' }).click();
  await editor.bottom.getByText('Completed').waitFor();
  await editor.bottom.getByText('9007199254740995').first().waitFor();
  expect(await page.getByText('rawJSON').count()).toBe(0);
  expectNoComplaints(opened);
});

test('a pinned output too large for a closing page is there at the next visit', async () => {
  const { opened, page, editor, pins } = await openChain();
  const large = { said: 'x'.repeat(100_000) };
  await editor.node('first').click();
  await editor.panel.getByRole('tab', { name: 'Output' }).click();
  await editor.panel.getByRole('button', { name: 'Write and pin an output' }).click();
  await templateField(editor.panel, 'Pinned output as JSON').click();
  await expect.poll(pins).toEqual([['first', {}]]);
  // The service doesn't receive it before the page is gone.
  await opened.context.route('**/pins', (route) =>
    route.request().method() === 'PUT' ? route.abort() : route.continue(),
  );
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(JSON.stringify(large));
  await page.goto(`${world.url}/healthz`);
  expect(await pins()).toEqual([['first', {}]]);
  await opened.context.unroute('**/pins');
  await page.goBack();
  await editor.node('first').getByText('Pinned output').waitFor();
  await expect.poll(pins).toEqual([['first', large]]);
  // The page is told a moment later.
  await expect
    .poll(() => page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('unkept'))))
    .toEqual([]);
});

test('a cancelled run shows its results on the canvas, and can be run again', async () => {
  const { opened, page, editor } = await openChain({
    nodes: [
      ...CHAIN.nodes.slice(0, 2),
      {
        id: 'wait',
        type: 'core.delay',
        position: { x: 520, y: 0 },
        data: { label: 'The wait', config: { duration: { amount: 1, unit: 'days' } } },
      },
      set('never', 780, {}),
    ],
    edges: [
      ...CHAIN.edges.slice(0, 1),
      { source: 'first', target: 'wait' },
      { source: 'wait', target: 'never' },
    ],
  } as Flow);
  await editor.bar.getByRole('button', { name: 'Run', exact: true }).click();
  const run = editor.bottom.getByRole('button', { name: 'Run', exact: true });
  await editor.node('wait').getByText('Waiting').waitFor();
  // While it waits, its data can be worked with: it keeps nothing from being run.
  await editor.bottom.getByRole('link', { name: /^Execution \d+/ }).click();
  await page.getByRole('button', { name: 'Open in the editor with this data' }).click();
  await page
    .getByRole('region', { name: /^Data of execution/ })
    .getByText('1 output pinned')
    .waitFor();
  await editor.node('first').getByText('Pinned output').waitFor();
  await editor.node('wait').getByText('Waiting').waitFor();
  await editor.bottom.getByRole('tab', { name: 'Run', exact: true }).click();
  await expect.poll(() => run.isEnabled()).toBe(true);
  await editor.bottom.getByRole('button', { name: 'Cancel' }).click();
  await editor.node('first').getByText('Succeeded').waitFor();
  await editor.node('wait').getByText('Cancelled').waitFor();
  expect(await editor.canvas.getByText(/^(Waiting|Running)$/).count()).toBe(0);
  await run.click();
  await editor.node('wait').getByText('Waiting').waitFor();
  await editor.bottom.getByRole('button', { name: 'Cancel' }).click();
  await editor.node('wait').getByText('Cancelled').waitFor();
  await page.getByRole('link', { name: /^Execution \d+/ }).waitFor();
  expectNoComplaints(opened);
});

test("the page's shortcuts work inside fields, and code says how to leave it", async () => {
  const { opened, page, editor } = await openChain({
    nodes: [
      ...CHAIN.nodes.slice(0, 2),
      // Within view beside the panel too: otherwise a click would first have to scroll it into view.
      {
        id: 'code',
        type: 'core.code',
        position: { x: 260, y: -140 },
        data: { config: { code: 'return 1;' } },
      },
    ],
    edges: [...CHAIN.edges.slice(0, 1), { source: 'first', target: 'code' }],
  } as Flow);
  await editor.node('first').click();
  await templateField(editor.panel, 'Value of said').click();
  await page.keyboard.press('End');
  await page.keyboard.type(' and changed');
  await page.keyboard.press('ControlOrMeta+Enter');
  // It runs with the text typed just now.
  await editor.bottom.getByText('Completed').waitFor();
  await editor.bottom.getByText('as it was saved and changed').waitFor();
  await page.keyboard.press('ControlOrMeta+S');
  await editor.state.getByText('Saved (v2)').waitFor();
  // Ctrl+Enter didn't insert a line break.
  await editor.panel.getByText('as it was saved and changed', { exact: true }).first().waitFor();

  await editor.node('code').click();
  const code = templateField(editor.panel, 'Code');
  await code.click();
  const hint = editor.panel.getByText('Tab indents. To leave the field, press Escape, then Tab.');
  expect(await code.getAttribute('aria-describedby')).toBe(await hint.getAttribute('id'));
  await page.keyboard.press('Tab');
  expect(await code.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  expect(await code.evaluate((element) => element === document.activeElement)).toBe(false);
  expectNoComplaints(opened);
});

/** Marks the page once something that had the focus is gone and nothing else has it. */
async function noteLostFocus(page: Page): Promise<void> {
  await page.evaluate(() => {
    const { body } = document;
    new MutationObserver(() => {
      if (document.activeElement === body) body.dataset.hasLostFocus = '';
    }).observe(body, { subtree: true, childList: true });
  });
}

test('typing in a field while its editor is loading continues at the same place', async () => {
  const { opened, page, editor } = await openChain();
  let letThrough = () => {};
  const isHeld = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  await page.route(/template-editor/, async (route) => {
    await isHeld;
    await route.continue();
  });
  await page.reload();
  await editor.node('first').click();
  const plain = editor.panel.getByRole('textbox', { name: 'Value of said' });
  await plain.click();
  await page.keyboard.press('Home');
  await page.keyboard.type('early ');
  // What is selected by then is replaced.
  await page.keyboard.press('Shift+End');
  await noteLostFocus(page);
  letThrough();
  const field = templateField(editor.panel, 'Value of said');
  await field.waitFor();
  // A key pressed at that moment would be one of the page: Delete would remove the node.
  expect(await page.evaluate(() => document.body.dataset.hasLostFocus)).toBeUndefined();
  await page.keyboard.type('and late');
  await field.getByText('early and late', { exact: true }).waitFor();
  expectNoComplaints(opened);
});

test('a credential is added from the field that needs it, and the port follows the kind of server', async () => {
  const { opened, page, editor } = await openChain({
    nodes: [
      ...CHAIN.nodes.slice(0, 1),
      { id: 'sql', type: 'sql.query', position: { x: 260, y: 0 }, data: { config: {} } },
    ],
    edges: [{ source: 'start', target: 'sql' }],
  } as Flow);
  await editor.node('sql').click();
  await editor.panel.getByRole('button', { name: 'New credential for Credential' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Database type' }).click();
  await page.getByRole('option', { name: /mysql/i }).click();
  await expect.poll(() => dialog.getByRole('textbox', { name: 'Port' }).inputValue()).toBe('3306');
  expectNoComplaints(opened);
});

test('a credential made for a connector begins with what its service wants, one for a request with its host', async () => {
  const { opened, page, editor } = await openChain({
    nodes: [
      ...CHAIN.nodes.slice(0, 1),
      {
        id: 'voice',
        type: 'connector.elevenlabs.list_voices',
        position: { x: 0, y: 120 },
        data: { config: {} },
      },
      {
        id: 'call',
        type: 'http.request',
        // Not beside the other, where the panel would cover it.
        position: { x: 0, y: 240 },
        data: {
          config: { url: 'https://api.example.com/orders', auth: { type: 'credential', credential_id: 0 } },
        },
      },
    ],
    edges: [
      { source: 'start', target: 'voice' },
      { source: 'voice', target: 'call' },
    ],
  } as Flow);
  const add = () => editor.panel.getByRole('button', { name: 'New credential for Credential' }).click();
  const dialog = page.getByRole('dialog');
  const field = (name: string) => dialog.getByRole('textbox', { name, exact: true });

  await editor.node('voice').click();
  await add();
  await dialog.getByText('api.elevenlabs.io', { exact: true }).waitFor();
  await expect
    .poll(async () => [await field('Name').inputValue(), await field('Header name').inputValue()])
    .toEqual(['ElevenLabs', 'xi-api-key']);
  await dialog.getByLabel('Header value').fill('canary-key');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });

  await editor.node('call').click();
  const select = editor.panel.getByRole('combobox', { name: 'Credential' });
  await select.click();
  await page.getByRole('option', { name: 'ElevenLabs (Header)', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await add();
  await dialog.getByRole('combobox', { name: 'Type' }).click();
  await page.getByRole('option', { name: 'Bearer token', exact: true }).click();
  await dialog.getByText('api.example.com', { exact: true }).waitFor();
  expectNoComplaints(opened);
});
