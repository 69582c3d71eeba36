import type { Page } from 'playwright-core';

/** Another window comes to the front. The editor then keeps a changed draft at once, otherwise after a pause. */
export async function lookAway(page: Page): Promise<void> {
  await page.evaluate(() => window.dispatchEvent(new Event('blur')));
}
