import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { PgDatabase } from '../../packages/database/src/pool.ts';
import { addMember } from '../../packages/identity/src/members/store.ts';
import { insertSession } from '../../packages/identity/src/sessions/store.ts';
import { hashToken, makeSessionToken } from '../../packages/identity/src/sessions/tokens.ts';
import { launchChromium, type TestBrowser } from '../../packages/web/e2e/support/chromium.ts';

/** Mouse moves of one drag, and the milliseconds between them: the rate of a real mouse. */
const STEPS = 360;
const STEP_MS = 8;
const FIND_MS = 50;
const FIND_TURNS = 100;
const SESSION_MS = 3_600_000;

const CONDITIONS = [{ left: '{{trigger.data.total}}', operator: 'greater_than', right: 1000 }];

/** A flow of this many nodes in columns of twenty, each connected to the previous one in its row. */
export function largeFlow(count: number): object {
  const nodes = Array.from({ length: count }, (_, index) => ({
    id: index === 0 ? 'start' : `node_${index}`,
    type: index === 0 ? 'trigger.manual' : index % 7 === 0 ? 'core.if' : 'core.set',
    position: { x: 240 * (index === 0 ? 0 : 1 + Math.floor((index - 1) / 20)), y: 96 * ((index + 19) % 20) },
    data: { label: `Step ${index}`, config: index % 7 === 0 && index > 0 ? { conditions: CONDITIONS } : {} },
  }));
  const edges = nodes.slice(1).map(({ id }, at) => ({
    id: `edge_${at}`,
    source: at < 20 ? 'start' : `node_${at - 19}`,
    target: id,
    ...(at >= 20 && (at - 19) % 7 === 0 ? { sourceHandle: 'true' } : {}),
  }));
  return { nodes, edges };
}

/** Signs in a member. @returns the session's cookie */
export async function signIn(db: PgDatabase, organisationId: number, role = 'editor'): Promise<string> {
  const email = `bench-${randomUUID()}@example.com`;
  await addMember(db, organisationId, email, role, { actor: 'operator' });
  const [user] = await db.query<{ id: number }>(
    'INSERT INTO users (email, name) VALUES ($1, $2) RETURNING id',
    [email, 'Bench'],
  );
  const token = await makeSessionToken(db);
  await insertSession(db, {
    userId: user?.id ?? 0,
    tokenHash: hashToken(token),
    lifetimeMs: SESSION_MS,
    sourceIp: '127.0.0.1',
    userAgent: 'bench',
  });
  return token;
}

/** Opens a workflow in a separate browser and waits until its nodes are visible. */
export async function openEditor(
  baseUrl: string,
  session: string,
  organisationId: number,
  workflowId: number,
): Promise<{ readonly browser: TestBrowser; readonly page: Page }> {
  const browser = await launchChromium();
  const context = await browser.newContext({ width: 1440, height: 900 });
  await context.addCookies([{ name: 'millrace_session', value: session, url: baseUrl }]);
  const page = await context.newPage();
  await page.goto(`${baseUrl}/o/${organisationId}/workflows/${workflowId}`);
  await page.locator('.react-flow__node').first().waitFor();
  await page.waitForLoadState('networkidle');
  return { browser, page };
}

/** Zooms in at the centre of the canvas until single nodes are readable. */
export async function zoomIn(page: Page): Promise<void> {
  await page.mouse.move(800, 450);
  for (let turn = 0; turn < 6; turn += 1) {
    await page.mouse.wheel(0, -240);
    await page.waitForTimeout(100);
  }
}

/** A point of the canvas to press. Looked for before anything is traced: asking for a thousand places takes as long as a hundred frames. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** Where the canvas is empty. */
export async function findEmptyPlace(page: Page): Promise<Place> {
  return await find(page, FIND_EMPTY_PLACE);
}

/** The head of a visible node. */
export async function findNode(page: Page): Promise<Place> {
  return await find(page, FIND_NODE);
}

/** Asks until there is one: a canvas that was just zoomed is still drawn. */
async function find(page: Page, script: string): Promise<Place> {
  for (let turn = 0; turn < FIND_TURNS; turn += 1) {
    const place = await page.evaluate<Place | null>(script);
    if (place !== null) return place;
    await page.waitForTimeout(FIND_MS);
  }
  throw new Error('the canvas has no such place');
}

/** Frames a second that the page draws during an action. Chromium begins one only when the display compositor has taken the last but one. */
export async function countFrames(page: Page, act: () => Promise<void>): Promise<number> {
  await page.evaluate(START_COUNTING);
  await act();
  const { frames, ms } = await page.evaluate<{ readonly frames: number; readonly ms: number }>(STOP_COUNTING);
  return (1000 * frames) / ms;
}

/** Runs in the page, as below. */
const START_COUNTING = `(() => {
  const counted = { start: performance.now(), frames: 0, request: 0 };
  const count = () => {
    counted.frames += 1;
    counted.request = requestAnimationFrame(count);
  };
  counted.request = requestAnimationFrame(count);
  window.countedFrames = counted;
})()`;

const STOP_COUNTING = `(() => {
  const { start, frames, request } = window.countedFrames;
  cancelAnimationFrame(request);
  return { frames, ms: performance.now() - start };
})()`;

/** Runs in the page, whose types aren't available here. */
const FIND_EMPTY_PLACE = `(() => {
  for (let y = 150; y < 700; y += 3) {
    for (let x = 500; x < 1100; x += 7) {
      if (document.elementFromPoint(x, y)?.classList.contains('react-flow__pane')) return { x, y };
    }
  }
  return null;
})()`;

const FIND_NODE = `(() => {
  for (const node of document.querySelectorAll('.react-flow__node')) {
    const { x, y, width, height } = node.getBoundingClientRect();
    if (x > 500 && x < 1100 && y > 200 && y < 600) return { x: x + width / 2, y: y + Math.min(20, height / 2) };
  }
  return null;
})()`;

/**
 * Presses there and pulls back and forth: pans the canvas, or drags the node. Like a real mouse, it doesn't wait until the page has drawn
 * a move: Playwright's does, and then moves thirty times a second.
 */
export async function pull(page: Page, from: Place): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const send = (type: 'mouseMoved' | 'mousePressed' | 'mouseReleased', { x, y }: Place, buttons: number) =>
    session.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', buttons, clickCount: 1 });
  await send('mouseMoved', from, 0);
  await send('mousePressed', from, 1);
  const [start, moves]: [number, Promise<unknown>[]] = [performance.now(), []];
  for (let step = 1; step <= STEPS; step += 1) {
    const way = Math.sin((step / STEPS) * 4 * Math.PI);
    moves.push(send('mouseMoved', { x: from.x + way * 240, y: from.y + way * 120 }, 1));
    await setTimeout(Math.max(0, start + step * STEP_MS - performance.now()));
  }
  await Promise.all(moves);
  await send('mouseReleased', from, 0);
  await session.detach();
}
