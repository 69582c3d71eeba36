import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

declare global {
  interface Window {
    /** Put there by {@link findViolations}. */
    readonly axe: typeof axe;
  }
}

interface Rule {
  readonly id: string;
  /** That of everything it finds. */
  readonly impact: string;
}

/** Not in axe's types. */
const RULES = (axe as unknown as { readonly _audit: { readonly rules: readonly Rule[] } })._audit.rules;

const isWanted = ({ id, impact }: Rule): boolean =>
  impact === 'serious' || impact === 'critical' || id === 'heading-order';

/** What these would find isn't wanted, and looking for it takes up to a third of an inspection's time. */
const SKIPPED = Object.fromEntries(
  RULES.filter((rule) => !isWanted(rule)).map(({ id }) => [id, { enabled: false }]),
);

interface Inspected {
  /** A selector; by default the whole document. */
  readonly part?: string;
  /** By default all rules that can find something serious, and the order of headings. */
  readonly rules?: string[];
}

/** axe's serious and critical violations, and headings out of order, one per line. */
export async function findViolations(
  page: Page,
  { part = 'html', rules }: Inspected = {},
): Promise<string[]> {
  // Once for each document: reading it takes as long as some inspections.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const violations = await page.evaluate(
    async ({ part, rules, skipped }) => {
      // What it finds is told by selectors: the HTML of every element it looks at would be copied for nothing.
      window.axe.configure({ noHtml: true });
      const found = await window.axe.run(part, {
        resultTypes: ['violations'],
        ...(rules === undefined ? { rules: skipped } : { runOnly: rules }),
      });
      return found.violations.map(({ id, impact, nodes }) => ({
        id,
        impact,
        nodes: nodes.map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`),
      }));
    },
    { part, rules, skipped: SKIPPED },
  );
  return violations
    .filter(({ id, impact }) => isWanted({ id, impact: impact ?? '' }))
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node}`));
}

/** What was opened above the page. */
const LAYERS = '[role="dialog"][aria-modal="true"], [role="menu"]';

/** Violations of what was opened above the page; of the whole page if nothing was. */
export async function findViolationsOnTop(page: Page): Promise<string[]> {
  return findViolations(page, (await page.locator(LAYERS).count()) > 0 ? { part: LAYERS } : {});
}

/** Detects horizontal overflow. */
export async function findOverflow(page: Page): Promise<string[]> {
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  const window = page.viewportSize()?.width ?? width;
  return width > window ? [`it is ${width} pixels wide`] : [];
}

/** Closes a dialog or menu with Escape; reports if that fails, or if the focus is nowhere afterwards. */
export async function findLostFocus(page: Page): Promise<string[]> {
  const layer = page.locator(LAYERS).last();
  if ((await layer.count()) === 0) return [];
  const isIn = await layer.evaluate((here) => here.contains(document.activeElement));
  if (!isIn) return ['it was opened without the focus'];
  // Tab and Escape belong to a code editor until Escape was pressed once.
  if (await page.locator('.cm-content:focus').isVisible()) await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  try {
    await layer.waitFor({ state: 'detached', timeout: 5_000 });
  } catch {
    return ['Escape does not close it'];
  }
  try {
    await page.waitForFunction(() => document.activeElement !== document.body, null, { timeout: 5_000 });
  } catch {
    return ['the focus is lost when it closes'];
  }
  return [];
}

/** Fails if axe finds serious violations in this part of the page. */
export async function expectAccessible(page: Page, part?: string): Promise<void> {
  expect([page.url(), await findViolations(page, part === undefined ? {} : { part })]).toEqual([
    page.url(),
    [],
  ]);
}
