import type { Page } from 'playwright-core';

/** Pages of an organisation that need nothing to be there. */
export const LISTS = [
  'workflows',
  'templates',
  'executions',
  'approvals',
  'credentials',
  'keys',
  'members',
  'audit',
  'settings',
  'organisations',
  'accounts',
  'system',
] as const;

/** Every page there is, by name: below the organisation, or with a slash in front from the root. */
export function placesOf(
  workflowId: number,
  [first = 0, second = 0, failed = 0]: readonly number[],
): { readonly [name: string]: string } {
  return {
    ...Object.fromEntries(LISTS.map((name) => [name, name])),
    editor: `workflows/${workflowId}`,
    execution: `executions/${first}`,
    'execution-failed': `executions/${failed}`,
    compare: `executions/compare?a=${first}&b=${second}`,
    account: '/account',
    'sign-in': '/sign-in',
  };
}

/** Waits until a page shows what it has to show: its heading, and nothing that says it is still loading. */
export async function settle(page: Page): Promise<void> {
  await page.locator('h1, h2').first().waitFor();
  await page.waitForFunction(() => document.querySelector('.mantine-Skeleton-root') === null);
  // One more frame: what came last is painted.
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
}
