import type { Flow } from '@millrace/engine';
import type { TestPerson } from '@millrace/testing/admin';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** The parts of the editor page, by accessible name. */
export interface EditorParts {
  readonly bar: Locator;
  readonly canvas: Locator;
  /** The list view of the flow. */
  readonly list: Locator;
  /** Beside the canvas while a node is open. */
  readonly panel: Locator;
  /** Below the canvas, with problems and runs. */
  readonly bottom: Locator;
  /** Whether the draft is saved, and the current version. */
  readonly state: Locator;
  node(id: string): Locator;
  /** The source handle of a node; `target` is its counterpart. */
  source(id: string, handle?: string): Locator;
  target(id: string): Locator;
  edge(from: string, to: string): Locator;
}

export function editorOf(page: Page): EditorParts {
  // Dialogs show flows too.
  const canvas = page.locator('.editor-canvas').getByTestId('canvas');
  const bar = page.locator('header.editor-bar');
  const node = (id: string) => canvas.locator(`.react-flow__node[data-id="${id}"]`);
  return {
    bar,
    canvas,
    list: page.getByRole('table', { name: 'Nodes of this workflow' }),
    panel: page.getByRole('complementary', { name: 'Node' }),
    bottom: page.getByRole('region', { name: 'Problems and runs' }),
    state: bar.getByRole('status'),
    node,
    source: (id, handle = 'out') => node(id).locator(`.react-flow__handle.source[data-handleid="${handle}"]`),
    target: (id) => node(id).locator('.react-flow__handle.target'),
    edge: (from, to) => canvas.locator(`.react-flow__edge[data-id="edge:${from}-${to}"]`),
  };
}

/** A template field, once its editor has loaded. */
export function templateField(within: Locator, name: string): Locator {
  return within.locator('.cm-content').and(within.getByRole('textbox', { name, exact: true }));
}

/**
 * Adds the best match for these words from the palette that was just opened, once it takes what is typed: the search
 * has the focus, and the types of nodes have arrived.
 */
export async function chooseNode(page: Page, search: string): Promise<void> {
  const palette = page.locator('.flow-palette');
  await palette.locator('input:focus').waitFor();
  await palette.getByRole('option').first().waitFor();
  await page.keyboard.type(search);
  await page.keyboard.press('Enter');
  await palette.waitFor({ state: 'detached' });
}

/** A user with a mouse; the keyboard is used only in fields that were clicked. */
export interface MouseHand {
  click(target: Locator): Promise<void>;
  /** Clicks into the field and replaces its content. */
  write(field: Locator, text: string): Promise<void>;
  /** Presses at the middle of one element and releases at the middle of the other. */
  drag(from: Locator, to: Locator): Promise<void>;
  /** A native drag and drop, to a position within the target. */
  dragOnto(from: Locator, to: Locator, at: { readonly x: number; readonly y: number }): Promise<void>;
}

export function mouseOf(page: Page): MouseHand {
  return {
    click: (target) => target.click(),
    async write(field, text) {
      await field.click({ clickCount: 3 });
      await page.keyboard.type(text);
    },
    async drag(from, to) {
      await from.hover();
      await page.mouse.down();
      await to.hover({ force: true });
      await to.hover();
      await page.mouse.up();
    },
    dragOnto: (from, to, at) => from.dragTo(to, { targetPosition: at }),
  };
}

/** A user with only a keyboard. */
export interface KeyboardHand {
  /** Presses Tab until the target has the focus. */
  reach(target: Locator, key?: 'Tab' | 'Shift+Tab'): Promise<void>;
  /** Focuses the target and presses Enter. */
  enter(target: Locator): Promise<void>;
  /** Focuses the field and replaces its content. */
  write(field: Locator, text: string): Promise<void>;
  press(...keys: readonly string[]): Promise<void>;
  type(text: string): Promise<void>;
  /** Moves down an open menu to this item and activates it. */
  choose(item: Locator): Promise<void>;
}

/** More Tab stops than any page has: the target is unreachable. */
const MAX_STOPS = 150;

export function keyboardOf(page: Page): KeyboardHand {
  /** Looking the target up takes longer than a key press, so that happens again only if it was replaced. */
  async function walk(target: Locator, key: string): Promise<void> {
    await target.waitFor();
    let element = await target.elementHandle();
    for (let stops = 0; stops < MAX_STOPS; stops += 1) {
      const state = await element?.evaluate((here) => ({
        isThere: here.isConnected,
        hasFocus: here === document.activeElement,
      }));
      if (state?.hasFocus === true) return;
      if (state?.isThere === true) await page.keyboard.press(key);
      else element = await target.elementHandle();
    }
    throw new Error(`${key} never came to ${target.toString()}`);
  }
  const hand: KeyboardHand = {
    reach: (target, key = 'Tab') => walk(target, key),
    async enter(target) {
      await walk(target, 'Tab');
      await page.keyboard.press('Enter');
    },
    async write(field, text) {
      await walk(field, 'Tab');
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.type(text);
    },
    async press(...keys) {
      for (const key of keys) await page.keyboard.press(key);
    },
    type: (text) => page.keyboard.type(text),
    async choose(item) {
      await walk(item, 'ArrowDown');
      await page.keyboard.press('Enter');
    },
  };
  return hand;
}

/** A flow with a manual trigger and one node that outputs a string. */
export function greetingFlow(text: string): Flow {
  return {
    nodes: [
      { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
      {
        id: 'greet',
        type: 'core.set',
        position: { x: 280, y: 0 },
        data: { label: 'Greet', config: { values: { text } } },
      },
    ],
    edges: [{ id: 'start-greet', source: 'start', target: 'greet' }],
  };
}

/** Saves a workflow as this person. @returns its id */
export async function createWorkflow(person: TestPerson, name: string, flow: Flow): Promise<number> {
  const { status, data } = await person.call('POST /orgs/:org/workflows', {
    params: { org: person.organisationId },
    body: { name, flow_data: flow as never },
  });
  expect(status).toBe(200);
  return data.workflow.id;
}
