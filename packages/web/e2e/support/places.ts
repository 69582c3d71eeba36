import type { Page } from 'playwright-core';

/** Organisation pages that need no existing data. */
export const LISTS = [
  'workflows',
  'templates',
  'executions',
  'approvals',
  'credentials',
  'ai-data',
  'keys',
  'members',
  'alerts',
  'audit',
  'settings',
  'organisations',
  'accounts',
  'system',
] as const;

/** All pages by name; paths are relative to the organisation, or absolute with a leading slash. */
export function placesOf(
  workflowId: number,
  [first = 0, second = 0, failed = 0]: readonly number[],
): { readonly [name: string]: string } {
  return {
    ...Object.fromEntries(LISTS.map((name) => [name, name])),
    editor: `workflows/${workflowId}`,
    'workflow-executions': `workflows/${workflowId}/executions`,
    'workflow-version': `workflows/${workflowId}?version=1`,
    execution: `executions/${first}`,
    'execution-failed': `executions/${failed}`,
    compare: `executions/compare?a=${first}&b=${second}`,
    account: '/account',
    'sign-in': '/sign-in',
  };
}

/** Waits until a page has finished loading: its heading is shown and no loading indicator is. */
export async function settle(page: Page): Promise<void> {
  await page.locator('h1, h2').first().waitFor();
  await page.waitForFunction(() => document.querySelector('.mantine-Skeleton-root') === null);
  // One more frame, so that the last update is painted.
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
}
