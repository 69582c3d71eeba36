import type { Flow } from '@millrace/engine';
import { createPerson } from '@millrace/testing/admin';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserService, expectNoComplaints, openBrowserService } from './support/browser-service.ts';
import {
  boxOf,
  canvasNode,
  draftOf,
  dragTo,
  eventually,
  handleOf,
  middleOf,
  openFlow as openIn,
} from './support/canvas.ts';
import { closeByEscape, deselectByEscape, focused } from './support/focused.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());

const FLOW: Flow = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 } },
    { id: 'check', type: 'core.if', position: { x: 300, y: 0 } },
    { id: 'one', type: 'core.set', position: { x: 640, y: 0 } },
    { id: 'two', type: 'core.set', position: { x: 640, y: 160 } },
  ],
  edges: [
    { id: 'a', source: 'start', target: 'check' },
    { id: 'b', source: 'check', sourceHandle: 'true', target: 'one' },
  ],
};

const openFlow = (flow: Flow) => openIn(world, flow);

const edges = (flow: Flow) =>
  flow.edges
    .map(({ id, source, sourceHandle, target }) => `${id}: ${source}.${sourceHandle ?? 'out'}>${target}`)
    .sort();

/** Where to grab the end of an edge; visible while the edge is hovered. */
function endOf(page: Page, key: string, end: 'source' | 'target'): Locator {
  return page.locator(`.react-flow__edge[data-id="${key}"] .react-flow__edgeupdater-${end}`);
}

describe('an end of a connection', () => {
  test('is dragged to another node, to another handle, and dropped over nothing', async () => {
    const opened = await openFlow(FLOW);
    const { page } = opened;
    const end = await middleOf(endOf(page, 'edge:b', 'target'));
    await dragTo(page, end, { x: end.x + 40, y: end.y - 90 });
    await dragTo(page, end, await middleOf(handleOf(page, 'two', 'target')));
    await eventually(async () => edges(await draftOf(opened))).toEqual([
      'a: start.out>check',
      'b: check.true>two',
    ]);
    await dragTo(
      page,
      await middleOf(endOf(page, 'edge:b', 'source')),
      await middleOf(page.locator('[data-nodeid="check"][data-handleid="false"]')),
    );
    await eventually(async () => edges(await draftOf(opened))).toEqual([
      'a: start.out>check',
      'b: check.false>two',
    ]);
    // On the node itself, which is larger than its handle.
    await dragTo(
      page,
      await middleOf(endOf(page, 'edge:b', 'target')),
      await middleOf(canvasNode(page, 'one').locator('.flow-node-title')),
    );
    await eventually(async () => edges(await draftOf(opened))).toContain('b: check.false>one');
    await page.keyboard.press('Control+z');
    await eventually(async () => edges(await draftOf(opened))).toContain('b: check.false>two');
    expect(await page.getByRole('combobox').count()).toBe(0);
    expectNoComplaints(opened);
  });

  test("can't be connected where it would close a cycle", async () => {
    const opened = await openFlow({
      ...FLOW,
      edges: [...FLOW.edges, { id: 'c', source: 'one', target: 'two' }],
    });
    const { page } = opened;
    await dragTo(
      page,
      await middleOf(endOf(page, 'edge:c', 'target')),
      await middleOf(canvasNode(page, 'check').locator('.flow-node-title')),
    );
    await page.getByText('That would create a cycle').first().waitFor();
    expect(edges(await draftOf(opened))).toContain('c: one.out>two');
    expectNoComplaints(opened);
  });

  test('is reconnected by keyboard, from the menu of the connection', async () => {
    const opened = await openFlow(FLOW);
    const { page } = opened;
    const edge = page.getByRole('group', { name: 'Connection from If (true) to Set values' });
    await edge.focus();
    await page.keyboard.press('Shift+F10');
    const menu = page.getByRole('menu', { name: 'Connection actions' });
    await menu.waitFor();
    await focused(menu);
    const item = menu.getByRole('menuitem', { name: 'Reconnect…' });
    for (let presses = 0; presses < 5; presses += 1) {
      await page.keyboard.press('ArrowDown');
      if (await item.evaluate((element) => element === document.activeElement)) break;
    }
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Reconnect' });
    await dialog.getByRole('combobox', { name: 'To' }).fill('two');
    await page.getByRole('option', { name: 'Set values (two)' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const change = dialog.getByRole('button', { name: 'Change' });
    await eventually(() => change.isEnabled()).toBe(true);
    await change.focus();
    await page.keyboard.press('Enter');
    await eventually(async () => edges(await draftOf(opened))).toContain('b: check.true>two');
    expectNoComplaints(opened);
  });
});

test('ids and names of handles can be any text', async () => {
  const odd = 'say "hi" \\ 100% [data-id]';
  const opened = await openFlow({
    nodes: [
      { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 } },
      {
        id: odd,
        type: 'core.switch',
        position: { x: 300, y: 0 },
        data: { config: { cases: [{ name: '5" pipe', conditions: [{ left: 1, operator: 'exists' }] }] } },
      },
      { id: 'end', type: 'core.set', position: { x: 640, y: 120 } },
    ],
    edges: [],
  });
  const { page } = opened;
  const node = page.locator('.react-flow__node').nth(1);
  const drag = async (from: Locator, to: Locator) => dragTo(page, await middleOf(from), await middleOf(to));
  await drag(handleOf(page, 'start', 'source'), node.locator('.react-flow__handle.target'));
  await drag(node.locator('.react-flow__handle.source').first(), handleOf(page, 'end', 'target'));
  await eventually(async () => (await draftOf(opened)).edges.map((each) => ({ ...each, id: '' }))).toEqual([
    { id: '', source: 'start', target: odd },
    { id: '', source: odd, sourceHandle: '5" pipe', target: 'end' },
  ]);
  const grip = await middleOf(node.locator('.flow-node-title'));
  await dragTo(page, grip, { x: grip.x, y: grip.y + 120 });
  await eventually(async () => (await draftOf(opened)).nodes[1]?.position?.y).toBeGreaterThan(60);
  await node.click();
  await page.getByRole('complementary', { name: 'Node' }).waitFor();
  await deselectByEscape(node);
  await node.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Node' }).waitFor();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await eventually(async () => (await draftOf(opened)).nodes.map(({ id }) => id)).toEqual(['start', 'end']);
  expectNoComplaints(opened);
});

test('a node dropped on a connection is inserted into it', async () => {
  const opened = await openFlow(FLOW);
  const { page } = opened;
  await page.getByRole('button', { name: 'Add node' }).click();
  await page.getByRole('combobox').fill('delay');
  const to = await middleOf(page.locator('.react-flow__edge[data-id="edge:a"] .react-flow__edge-path'));
  const canvas = await page.getByTestId('canvas').boundingBox();
  await page.getByRole('option', { name: /^Delay/ }).dragTo(page.getByTestId('canvas'), {
    targetPosition: { x: to.x - (canvas?.x ?? 0), y: to.y - (canvas?.y ?? 0) },
  });
  await eventually(async () =>
    (await draftOf(opened)).edges.map(({ source, target }) => `${source}>${target}`).sort(),
  ).toEqual(['check>one', 'delay>check', 'start>delay']);
  expectNoComplaints(opened);
});

describe('the menu', () => {
  test('of several nodes aligns them, of one copies it, of the canvas pastes it', async () => {
    const opened = await openFlow(FLOW);
    const { page } = opened;
    const node = (id: string) => canvasNode(page, id).locator('.flow-node-title');
    await node('one').click({ modifiers: ['Shift'] });
    await node('two').click({ modifiers: ['Shift'] });
    await node('two').click({ button: 'right' });
    await page.getByText('2 selected').waitFor();
    await page.getByRole('menuitem', { name: 'Arrange in a row' }).click();
    await eventually(async () => (await draftOf(opened)).nodes.map(({ position }) => position?.y)).toEqual([
      0, 0, 0, 0,
    ]);
    await node('check').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Copy' }).click();
    await page.getByText('Copied').first().waitFor();
    await page.locator('.react-flow__pane').click({ button: 'right', position: { x: 60, y: 60 } });
    await page.getByRole('menuitem', { name: 'Paste' }).click();
    await canvasNode(page, 'check_2').waitFor();
    expectNoComplaints(opened);
  });

  test('of a node returns the focus, and offers a viewer no changes', async () => {
    const opened = await openFlow(FLOW);
    const { page, person, id } = opened;
    await canvasNode(page, 'two').focus();
    await page.keyboard.press('Shift+F10');
    await closeByEscape(page.getByRole('menu', { name: 'Node actions' }));
    await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('data-id'))).toBe('two');
    const viewer = await createPerson(world.service, 'viewer', { organisationId: person.organisationId });
    const shown = await world.openFor(viewer, `workflows/${id}`);
    await canvasNode(shown.page, 'two').click({ button: 'right' });
    await shown.page.getByRole('menuitem', { name: 'Copy' }).waitFor();
    await expect.poll(() => shown.page.getByRole('menuitem').count()).toBe(2);
    expectNoComplaints(shown);
  });
});

test('JSON from a text editor is pasted; a mistake in it is reported with its position', async () => {
  const opened = await openFlow(FLOW);
  const { page } = opened;
  const paste = async (text: string) => {
    await page.evaluate((value) => navigator.clipboard.writeText(value), text);
    await page.keyboard.press('Control+v');
  };
  await paste('{\n  "nodes": [\n    {"id": "new", "type": "core.set"},\n  ]\n}');
  await page.getByText('This JSON has an error at line 4, column 3, so nothing was pasted.').waitFor();
  await paste('{"name": "something else"}');
  await page.getByText('This JSON contains no nodes.').waitFor();
  await paste('{"nodes": [{"id": "new", "type": "core.set"}, {"id": "no type"}], "edges": []}');
  await page.getByText('1 entry was left out').waitFor();
  await eventually(async () => (await draftOf(opened)).nodes.map(({ id }) => id)).toContain('new');

  // A request as a curl command: its secret is offered as a credential, and isn't in the workflow.
  const url = 'https://api.example.com/orders';
  await paste(`curl '${url}' -H 'Authorization: Bearer s3cret' --json '{"a": 1}' -k`);
  await page.getByText('Left out of the curl command: -k').waitFor();
  const dialog = page.getByRole('dialog', { name: 'Add a credential' });
  await dialog.getByText('api.example.com', { exact: true }).waitFor();
  expect(await dialog.getByRole('textbox', { name: 'Token' }).inputValue()).toBe('s3cret');
  await closeByEscape(dialog);
  const requests = async () => (await draftOf(opened)).nodes.filter(({ type }) => type === 'http.request');
  await eventually(async () => (await requests()).map(({ data }) => data?.config)).toEqual([
    { method: 'POST', url, body: { a: 1 }, auth: { type: 'credential', credential_id: 0 } },
  ]);
  await page.keyboard.press('Control+z');
  await eventually(requests).toEqual([]);

  // Nodes of n8n, with what starts them beside the trigger that there is.
  const set = {
    name: 'Edit',
    type: 'n8n-nodes-base.set',
    typeVersion: 3.4,
    position: [0, 0],
    parameters: {},
  };
  const hook = { ...set, name: 'Hook', type: 'n8n-nodes-base.webhook', typeVersion: 2 };
  const connections = { Hook: { main: [[{ node: 'Edit', type: 'main', index: 0 }]] } };
  await paste(JSON.stringify({ nodes: [hook, set], connections, settings: { timezone: 'Asia/Tokyo' } }));
  await page.getByText('2 nodes of n8n imported').waitFor();
  await page
    .getByText('This workflow keeps its own settings. Left out of what was pasted: Time zone')
    .waitFor();
  await eventually(async () => (await draftOf(opened)).nodes.map(({ data }) => data?.label)).toContain(
    'Edit',
  );
  const triggers = (await draftOf(opened)).nodes.filter(({ type }) => type.startsWith('trigger.'));
  expect(triggers.map(({ data }) => data?.label)).toContain('Hook');
  expect(triggers).toHaveLength(2);

  // An app of Dify, as the YAML that it exports.
  const nodes = '    - {id: s, data: {type: start}}\n    - {id: e, data: {type: end, title: Said}}';
  await paste(
    `app:\n  mode: workflow\nkind: app\nworkflow:\n  graph:\n    nodes:\n${nodes}\n    edges: [{source: s, target: e}]\n`,
  );
  await page.getByText('2 nodes of Dify imported').waitFor();
  await eventually(async () => (await draftOf(opened)).nodes.map(({ data }) => data?.label)).toContain(
    'Said',
  );

  // Into the URL field of a request, and rows of a spreadsheet into a list.
  await paste(url);
  await canvasNode(page, 'http_request').click();
  await page.getByRole('complementary').getByRole('textbox', { name: 'URL' }).click();
  await paste(`curl -X DELETE ${url}/7`);
  await eventually(async () => (await requests()).map(({ data }) => data?.config)).toEqual([
    { method: 'DELETE', url: `${url}/7` },
  ]);
  expectNoComplaints(opened);
});

test('broken JSON is refused without its position while the service is unreachable', async () => {
  const { page } = await openIn(world, FLOW, { isFresh: true });
  await page.evaluate(() => navigator.clipboard.writeText('{"nodes": [{"id": "new"},]}'));
  // What shows messages is loaded once the page is complete. It is there when it has drawn, not when its first file has arrived: that imports others.
  await page.locator('.mantine-Notifications-root').first().waitFor({ state: 'attached' });
  await page.context().setOffline(true);
  await page.keyboard.press('Control+v');
  const said = page.getByText('This JSON has an error, so nothing was pasted.');
  // Under the pointer, none of them closes by itself.
  await said.hover();

  // All of a stack of messages makes way for what gets the focus.
  await page.keyboard.press('Control+v');
  await page.keyboard.press('Control+v');
  await eventually(() => said.count()).toBe(3);
  const stack = page.locator('.mantine-Notifications-root').filter({ has: said });
  const { x, y, height } = await boxOf(stack);
  expect(height).toBeGreaterThan(88);
  // At its end away from the border of the page.
  await page.evaluate(
    ([left, top]) => {
      const field = document.createElement('input');
      field.style.cssText = `position: fixed; left: ${left}px; top: ${top}px; height: 20px`;
      document.body.append(field);
      field.focus();
    },
    [x + 20, y > 300 ? y + 10 : y + height - 30] as const,
  );
  await eventually(() =>
    page.evaluate(() => {
      const field = document.activeElement?.getBoundingClientRect();
      const stacks = [...document.querySelectorAll('.mantine-Notifications-root')];
      return stacks.some((each) => {
        const box = each.getBoundingClientRect();
        const { left, right, top, bottom } = field ?? box;
        return left < box.right && box.left < right && top < box.bottom && box.top < bottom;
      });
    }),
  ).toBe(false);
  expect(await said.count()).toBe(3);
});
