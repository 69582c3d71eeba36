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
  keptDraft,
  middleOf,
  openFlow as openIn,
  stillCanvas,
} from './support/canvas.ts';
import { chooseNode, createWorkflow } from './support/editor.ts';

let world: BrowserService;
beforeAll(async () => {
  world = await openBrowserService({ runsWorker: false });
});
afterAll(() => world.stop());

const LOOP_FLOW: Flow = {
  nodes: [
    { id: 'start', type: 'trigger.manual', position: { x: 0, y: 40 } },
    { id: 'each', type: 'core.for_each', position: { x: 260, y: 0 }, data: { config: { items: [1] } } },
    { id: 'inner', type: 'core.set', parentId: 'each', position: { x: 30, y: 60 } },
    { id: 'check', type: 'core.if', position: { x: 260, y: 240 } },
    { id: 'end', type: 'core.set', position: { x: 560, y: 260 } },
  ],
  edges: [
    { id: 'a', source: 'start', target: 'each' },
    { id: 'b', source: 'check', sourceHandle: 'true', target: 'end' },
  ],
};

/** Rows of connected nodes. */
function gridFlow(columns: number, rows: number): Flow {
  const places = Array.from({ length: rows }, (_row, y) =>
    Array.from({ length: columns }, (_column, x) => ({ x, y })),
  ).flat();
  return {
    nodes: places.map(({ x, y }) => ({
      id: `n${x}_${y}`,
      type: x === 0 && y === 0 ? 'trigger.manual' : 'core.set',
      position: { x: 240 * x, y: 100 * y },
    })),
    edges: places
      .filter(({ x }) => x > 0)
      .map(({ x, y }) => ({ id: `e${x}_${y}`, source: `n${x - 1}_${y}`, target: `n${x}_${y}` })),
  };
}

const openFlow = (flow: Flow) => openIn(world, flow);

const edges = (flow: Flow) =>
  flow.edges.map(({ source, sourceHandle, target }) => `${source}.${sourceHandle ?? 'out'}>${target}`).sort();

describe('building by mouse only', () => {
  test('from nothing to a saved workflow', async () => {
    const opened = await openFlow({ nodes: [], edges: [] });
    const { page, person, id } = opened;
    await page.getByRole('button', { name: /^By hand or through the API/ }).click();
    await canvasNode(page, 'manual').waitFor();
    // Dragged from its handle to the empty canvas, which offers nodes to add.
    await page.getByRole('button', { name: 'Close panel' }).click();
    const from = await middleOf(handleOf(page, 'manual', 'source'));
    await dragTo(page, from, { x: from.x + 120, y: from.y + 60 });
    await page.getByRole('option', { name: /^If / }).click();
    await canvasNode(page, 'if').waitFor();
    await page.getByRole('button', { name: 'Close panel' }).click();
    // Dragged from the palette.
    await page.getByRole('button', { name: 'Add node' }).click();
    // Above the condition, whose handles it would otherwise cover: the canvas may have panned before the panel was closed.
    const pane = page.locator('.react-flow__pane');
    const [condition, canvas] = [await boxOf(canvasNode(page, 'if')), await boxOf(pane)];
    await page.getByRole('option', { name: /^Set values/ }).dragTo(pane, {
      targetPosition: { x: condition.x - canvas.x + 60, y: condition.y - canvas.y - 180 },
    });
    await canvasNode(page, 'set').waitFor();
    await page.locator('.flow-palette').waitFor({ state: 'detached' });
    await dragTo(
      page,
      await middleOf(page.locator('[data-nodeid="if"][data-handleid="true"]')),
      await middleOf(handleOf(page, 'set', 'target')),
    );
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved (v2)').waitFor();
    const saved = await person.call('GET /orgs/:org/workflows/:id', {
      params: { org: person.organisationId, id },
    });
    expect(edges(saved.data.flow_data as unknown as Flow)).toEqual(['if.true>set', 'manual.out>if']);
    expectNoComplaints(opened);
  });

  test('a handle and then an empty place are clicked: the node chosen there is connected', async () => {
    const opened = await openFlow(LOOP_FLOW);
    const { page } = opened;
    const handle = handleOf(page, 'start', 'source');
    const hint = page.locator('.flow-connect-hint');
    await handle.click();
    await hint.getByText('Now click a handle of the next node, or an empty place to add one.').waitFor();
    await page.keyboard.press('Escape');
    await hint.waitFor({ state: 'detached' });
    await handle.click();
    const at = await middleOf(handle);
    await page.mouse.click(at.x - 60, at.y + 150);
    await page.getByRole('option', { name: /^Set values/ }).click();
    await canvasNode(page, 'set').waitFor();
    await eventually(async () => edges(await draftOf(opened))).toContain('start.out>set');
    expectNoComplaints(opened);
  });

  test('a node is inserted into an edge, and an edge removed, with the buttons on it', async () => {
    const opened = await openFlow(LOOP_FLOW);
    const { page } = opened;
    await pressEdgeTool(page, 'edge:b', 'insert');
    await page.getByRole('combobox').fill('set val');
    await page.getByRole('option').first().click();
    await keptDraft(page);
    expect(edges(await draftOf(opened))).toEqual(['check.true>set', 'set.out>end', 'start.out>each']);
    await page.getByRole('button', { name: 'Close panel' }).click();
    await page.getByRole('button', { name: 'Fit to view' }).click();
    await pressEdgeTool(page, 'edge:a', 'remove');
    await eventually(async () => edges(await draftOf(opened))).toEqual(['check.true>set', 'set.out>end']);
    expectNoComplaints(opened);
  });

  test('a connection that would break the flow is refused with the reason', async () => {
    const opened = await openFlow(LOOP_FLOW);
    const { page } = opened;
    const connect = async (source: Locator, target: Locator) =>
      dragTo(page, await middleOf(source), await middleOf(target));
    await connect(handleOf(page, 'start', 'source'), handleOf(page, 'inner', 'target'));
    await page.getByText("Connections can't cross the border of a loop").first().waitFor();
    await connect(handleOf(page, 'end', 'source'), handleOf(page, 'check', 'target'));
    await page.getByText('That would create a cycle').first().waitFor();
    await expect.poll(() => page.locator('.react-flow__edge').count()).toBe(2);
    expectNoComplaints(opened);
  });

  test('a node is dropped into a loop and out of it', async () => {
    const opened = await openFlow(LOOP_FLOW);
    const { page } = opened;
    const parentOf = async () =>
      (await draftOf(opened)).nodes.find(({ id }) => id === 'check')?.parentId ?? null;
    const frame = await boxOf(canvasNode(page, 'each'));
    const grab = await gripOf(page, 'check');
    await dragTo(page, grab, { x: frame.x + frame.width * 0.55, y: frame.y + frame.height * 0.75 });
    await page.getByText('A connection was removed').first().waitFor();
    await eventually(parentOf).toBe('each');
    const inside = await gripOf(page, 'check');
    await dragTo(page, inside, { x: inside.x, y: inside.y + 260 });
    await eventually(parentOf).toBe(null);
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');
    await eventually(parentOf).toBe(null);
    await eventually(async () => edges(await draftOf(opened))).toEqual(['check.true>end', 'start.out>each']);
    expectNoComplaints(opened);
  });

  test('several nodes are selected with a box, copied, and pasted into another workflow', async () => {
    const opened = await openFlow(LOOP_FLOW);
    const { page, person } = opened;
    const [first, last] = [await boxOf(canvasNode(page, 'check')), await boxOf(canvasNode(page, 'end'))];
    await page.keyboard.down('Shift');
    await dragTo(
      page,
      { x: first.x - 20, y: first.y - 10 },
      { x: last.x + last.width + 20, y: first.y + first.height + 20 },
    );
    await page.keyboard.up('Shift');
    await eventually(() => page.locator('.react-flow__node.selected').count()).toBe(2);
    await page.keyboard.press('Control+c');
    const otherId = await createWorkflow(person, 'Another', LOOP_FLOW);
    await page.goto(`${world.url}/o/${person.organisationId}/workflows/${otherId}`);
    await canvasNode(page, 'check').waitFor();
    await page.locator('.react-flow__pane').click({ position: { x: 20, y: 20 } });
    await page.keyboard.press('Control+v');
    await canvasNode(page, 'check_2').waitFor();
    await eventually(async () => edges(await draftOf({ person, id: otherId }))).toEqual([
      'check.true>end',
      'check_2.true>end_2',
      'start.out>each',
    ]);
    expectNoComplaints(opened);
  });

  test('adding a node keeps the canvas still, or moves it as far as needed to show the node', async () => {
    const opened = await openFlow(LOOP_FLOW);
    const { page } = opened;
    const addAfter = async (id: string) => {
      await canvasNode(page, id).click();
      await stillCanvas(page);
      const before = await page.locator('.react-flow__viewport').getAttribute('style');
      await page.keyboard.press('Control+/');
      await chooseNode(page, 'set values');
      await stillCanvas(page);
      return { before, after: await page.locator('.react-flow__viewport').getAttribute('style') };
    };
    const near = await addAfter('start');
    expect(near.after).toBe(near.before);
    // Beside it, it would be under the panel.
    const far = await addAfter('check');
    expect(far.after).not.toBe(far.before);
    const [canvas, added] = [await boxOf(page.getByTestId('canvas')), await boxOf(canvasNode(page, 'set_2'))];
    expect(canvas.x + canvas.width - added.x - added.width).toBeCloseTo(24, 0);
    expectNoComplaints(opened);
  });

  test('an empty canvas offers every way to start at once, clear of the tools', async () => {
    const opened = await openFlow({ nodes: [], edges: [] });
    const { page } = opened;
    const canvas = page.getByTestId('canvas');
    await canvas.getByRole('button', { name: /^Form Someone fills in/ }).waitFor();
    await canvas.getByRole('button', { name: 'Poll a URL' }).waitFor();
    const [empty, tools] = [
      await boxOf(canvas.locator('.flow-empty')),
      await boxOf(page.locator('.flow-toolbar')),
    ];
    expect(empty.y + empty.height).toBeLessThanOrEqual(tools.y);
    const place = canvas.locator('.flow-empty-place');
    expect(await place.evaluate((each) => each.scrollHeight <= each.clientHeight)).toBe(true);
    expectNoComplaints(opened);
  });

  test('an edge goes around a node in its way', async () => {
    const opened = await openFlow({
      nodes: [
        { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 } },
        { id: 'between', type: 'core.set', position: { x: 260, y: 0 } },
        { id: 'end', type: 'core.set', position: { x: 520, y: 0 } },
      ],
      edges: [{ id: 'a', source: 'start', target: 'end' }],
    });
    const path = opened.page.locator('.react-flow__edge[data-id="edge:a"] .react-flow__edge-path');
    const shapeOf = () =>
      path.evaluate((element) => (element as unknown as SVGGraphicsElement).getBBox().height);
    await expect.poll(shapeOf).toBeGreaterThan(26);
    expectNoComplaints(opened);
  });

  test.each([
    ['a long workflow', 24, 1],
    ['a large workflow', 20, 10],
  ])(
    '%s shows its connections from far away, and still when the canvas is zoomed in',
    async (_what, columns, rows) => {
      const { page } = await openFlow(gridFlow(columns, rows));
      // From far away, a large flow has all lines of one kind in few elements.
      const lines = page.locator('.flow-far-edges path, .react-flow__edge-path');
      const drawn = () =>
        lines.evaluateAll(
          (all) =>
            all
              .map((line) => line.getAttribute('d'))
              .join('')
              .split('M').length - 1,
        );
      await expect.poll(drawn).toBe((columns - 1) * rows);
      const middle = await middleOf(page.getByTestId('canvas'));
      await page.mouse.move(middle.x, middle.y);
      await expect
        .poll(async () => {
          await page.mouse.wheel(0, -200);
          return await page.locator('.react-flow__handle').count();
        })
        .toBeGreaterThan(0);
      await expect.poll(() => page.locator('.react-flow__edge-path').count()).toBeGreaterThan(0);
    },
  );

  test('notes stay on the canvas', async () => {
    const opened = await openFlow(LOOP_FLOW);
    const { page } = opened;
    await page.getByRole('button', { name: 'Add note' }).click();
    await page.getByRole('textbox', { name: 'Note text' }).fill('Ask Anneke first');
    await page.getByRole('button', { name: 'Blue' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved (v2)').waitFor();
    await page.reload();
    await page.locator('.flow-note.is-blue', { hasText: 'Ask Anneke first' }).waitFor();
    expectNoComplaints(opened);
  });

  test('a problem leads to its node', async () => {
    const opened = await openFlow(LOOP_FLOW);
    const { page } = opened;
    await page.getByRole('tab', { name: /problem/ }).click();
    await page.getByRole('list', { name: 'Problems' }).getByRole('button').first().click();
    await page.getByRole('complementary', { name: 'Node' }).waitFor();
    await expect.poll(() => page.locator('.react-flow__node.selected').count()).toBe(1);
    expectNoComplaints(opened);
  });
});

test('a viewer sees the canvas without actions', async () => {
  const person = await createPerson(world.service, 'editor');
  const id = await createWorkflow(person, 'Orders', LOOP_FLOW);
  const viewer = await createPerson(world.service, 'viewer', { organisationId: person.organisationId });
  const opened = await world.openFor(viewer, `workflows/${id}`);
  const { page } = opened;
  await canvasNode(page, 'end').click();
  for (const name of ['Add node', 'Save', 'Run', 'Undo', 'Auto-arrange', 'Delete']) {
    expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0);
  }
  await page.keyboard.press('Delete');
  await expect.poll(() => page.locator('.react-flow__node').count()).toBe(5);
  expectNoComplaints(opened);
});

/** Where to grab a node: its title. */
async function gripOf(page: Page, id: string) {
  return middleOf(canvasNode(page, id).locator('.flow-node-title'));
}

/** Hovers an edge and clicks one of the buttons it then shows. */
async function pressEdgeTool(page: Page, key: string, tool: 'insert' | 'remove') {
  await stillCanvas(page);
  const edge = page.locator(`.react-flow__edge[data-id="${key}"]`);
  const hovered = await middleOf(edge.locator('.react-flow__edge-path'));
  await page.mouse.move(hovered.x, hovered.y);
  const button = edge.locator(`[data-tool="${tool}"]`);
  await button.waitFor();
  const at = await middleOf(button);
  await page.mouse.click(at.x, at.y);
}

test('in a narrow window everything that can be done with a workflow is in one line', async () => {
  const { page } = await openFlow(LOOP_FLOW);
  await page.setViewportSize({ width: 390, height: 844 });
  const bar = page.locator('.editor-bar');
  const [run, more] = [
    bar.getByRole('button', { name: 'Run', exact: true }),
    bar.getByRole('button', { name: 'More' }),
  ];
  expect((await middleOf(more)).y).toBeCloseTo((await middleOf(run)).y, 0);
});

test('panels are resized with arrow keys within their limits, and keep their size', async () => {
  const opened = await openFlow(LOOP_FLOW);
  const { page } = opened;
  const beside = page.locator('.editor-splitter.is-column');
  const widths = async () => [
    Number(await beside.getAttribute('aria-valuenow')),
    (await boxOf(page.locator('.editor-side'))).width,
  ];
  await canvasNode(page, 'end').click();
  await beside.focus();
  await page.keyboard.press('ArrowLeft');
  await eventually(widths).toEqual([444, 444]);
  await page.reload();
  await canvasNode(page, 'end').click();
  await eventually(widths).toEqual([444, 444]);
  await beside.focus();
  for (let press = 0; press < 7; press++) await page.keyboard.press('ArrowRight');
  await eventually(widths).toEqual([300, 300]);

  await page.getByRole('tab', { name: 'Run', exact: true }).click();
  const below = page.locator('.editor-splitter.is-row');
  await below.focus();
  await page.keyboard.press('ArrowUp');
  await eventually(() => below.getAttribute('aria-valuenow')).toBe('324');
  expect((await boxOf(page.locator('.editor-tabs > div:last-child'))).height).toBe(324);
  expectNoComplaints(opened);
});
