import type { Locator, Page } from 'playwright-core';

type GetByRole = (this: unknown, role: string, options?: object) => Locator;

/**
 * From now on `getByRole` takes a name for the whole name of what it finds, on every page. Playwright takes it for a part
 * of it, in any case: then "Workflows" finds "No workflows yet", too, and a test passes or fails by which of them has come
 * first. Whoever means a part says so, with a regular expression or with `exact: false`.
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

/** Of all browsers of a process. */
const changed = new WeakSet<object>();
