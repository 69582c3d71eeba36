import type { Locator, Page } from 'playwright-core';

type GetByRole = (this: unknown, role: string, options?: object) => Locator;

/**
 * Makes `getByRole` match the whole accessible name on every page. Playwright matches substrings, ignoring case:
 * "Workflows" also finds "No workflows yet", so a test passes or fails depending on which appears first. For a partial
 * match use a regular expression or `exact: false`.
 */
export function matchWholeNames(page: Page): void {
  for (const finder of [page, page.mainFrame(), page.locator('html')]) {
    const methods = Object.getPrototypeOf(finder) as { getByRole: GetByRole };
    if (changed.has(methods)) continue;
    changed.add(methods);
    const { getByRole } = methods;
    methods.getByRole = function (role, options) {
      return getByRole.call(this, role, { exact: true, ...options });
    };
  }
}

/** For all browsers of a process. */
const changed = new WeakSet<object>();
