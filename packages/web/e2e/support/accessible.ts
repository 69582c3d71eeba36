import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

declare global {
  interface Window {
    /** Put there by {@link findViolations}. */
    readonly axe: typeof axe;
  }
}

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
    async ({ part, rules }) => {
      const found = await window.axe.run(part, {
        resultTypes: ['violations'],
        // Visits every element, and whatever it finds is only moderate.
        rules: { region: { enabled: false } },
        ...(rules === undefined ? {} : { runOnly: rules }),
      });
      return found.violations.map(({ id, impact, nodes }) => ({
        id,
        impact,
        nodes: nodes.map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`),
      }));
    },
    { part, rules },
  );
  return violations
    .filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || id === 'heading-order')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node}`));
}

/** Fails if axe finds serious violations in this part of the page. */
export async function expectAccessible(page: Page, part?: string): Promise<void> {
  expect([page.url(), await findViolations(page, part === undefined ? {} : { part })]).toEqual([
    page.url(),
    [],
  ]);
}
