import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { chooseNode } from './editor.ts';
import { focused } from './focused.ts';

/** A user whose clicks and key presses are counted; typing text is free. */
export interface CountingHand {
  /** Everything that counts, in order. */
  readonly clicks: readonly string[];
  click(target: Locator): Promise<void>;
  press(key: string): Promise<void>;
  /** Types into the field that has the focus; what is no template at once, since each key renders the form again. */
  type(text: string): Promise<void>;
  /** Makes a new workflow from the list and opens it. */
  newWorkflow(name: string): Promise<void>;
  /** Searches for a node and adds it where the selection says. */
  add(search: string): Promise<void>;
  /** Fails if it took more than this. */
  expectAtMost(most: number): void;
}

export function countingHand(page: Page): CountingHand {
  const clicks: string[] = [];
  const hand: CountingHand = {
    clicks,
    async click(target) {
      clicks.push(`click ${target.toString()}`);
      await target.click();
    },
    async press(key) {
      clicks.push(`press ${key}`);
      await page.keyboard.press(key);
    },
    type: (text) => (text.includes('{{') ? page.keyboard.type(text) : page.keyboard.insertText(text)),
    async newWorkflow(name) {
      await hand.click(page.getByRole('button', { name: 'New workflow' }));
      await focused(
        page.getByRole('dialog', { name: 'New workflow' }).getByRole('textbox', { name: 'Name' }),
      );
      await hand.type(name);
      await hand.press('Enter');
      await page.waitForURL(/\/workflows\/\d+$/);
    },
    async add(search) {
      await hand.press('ControlOrMeta+/');
      clicks.push('press Enter');
      await chooseNode(page, search);
    },
    expectAtMost: (most) => expect(clicks.length, clicks.join('\n')).toBeLessThanOrEqual(most),
  };
  return hand;
}
