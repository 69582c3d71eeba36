import type { Locator } from 'playwright-core';
import { expect } from 'vitest';

/** Clicks a button that copies. @returns what it copied, which a browser stores a moment after the click */
export async function copyWith(button: Locator): Promise<string> {
  const page = button.page();
  // What was copied before must not be taken for it.
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await button.click();
  const read = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(read).not.toBe('');
  return read();
}
