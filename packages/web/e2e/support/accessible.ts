import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Fails if axe finds serious violations in this part of the page. */
export async function expectAccessible(page: Page, part = 'body'): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).include(part).analyze();
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(serious.map(({ id, nodes }) => [page.url(), id, nodes.map(({ html }) => html)])).toEqual([]);
}
