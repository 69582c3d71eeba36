import type { Flow } from '@millrace/engine';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { TestPerson } from '../../../server/test/support/admin.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Saves a workflow with this flow. @returns its id */
export async function saveFlow(person: TestPerson, flow: Flow, name = 'Orders'): Promise<number> {
  const { data } = await person.call('POST /orgs/:org/workflows', {
    params: { org: person.organisationId },
    body: { name, flow_data: flow as never },
  });
  return data.workflow.id;
}

/** What the service keeps as the person's draft; the saved flow when there is none. */
export async function draftOf({ person, id }: { person: TestPerson; id: number }): Promise<Flow> {
  const params = { org: person.organisationId, id };
  const { data } = await person.call('GET /orgs/:org/workflows/:id/draft', { params });
  if (data.draft !== null) return data.draft.flow_data as unknown as Flow;
  const saved = await person.call('GET /orgs/:org/workflows/:id', { params });
  return saved.data.flow_data as unknown as Flow;
}

/** Waits until the service has the draft. */
export async function keptDraft(page: Page): Promise<void> {
  await page.getByText('Saved as draft').waitFor();
}

export function canvasNode(page: Page, id: string): Locator {
  return page.locator(`.react-flow__node[data-id="${id}"]`);
}

export function handleOf(page: Page, id: string, kind: 'source' | 'target'): Locator {
  return page.locator(`.react-flow__handle.${kind}[data-nodeid="${id}"]`);
}

/** Drags with the mouse, in steps, as a hand does. */
export async function dragTo(page: Page, from: Point, to: Point): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 5 });
  await page.mouse.move(to.x, to.y, { steps: 5 });
  await page.mouse.up();
}

const PATIENCE_MS = 20_000;

/** What becomes true when the page and the service have done their part: a draft is kept a moment after a change. */
export function eventually<Value>(read: () => Value | Promise<Value>) {
  return expect.poll(read, { timeout: PATIENCE_MS });
}
