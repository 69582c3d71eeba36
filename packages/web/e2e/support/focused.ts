import type { Locator } from 'playwright-core';
import { expect } from 'vitest';

/** Waits until the page has put the focus on this element or in it: dialogs do so a moment after they are shown. */
export async function focused(element: Locator): Promise<void> {
  await expect
    .poll(() => element.evaluate((here) => here.contains(document.activeElement)), {
      message: `${element.toString()} has the focus`,
    })
    .toBe(true);
}
