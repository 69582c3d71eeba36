import type { Locator } from 'playwright-core';
import { expect } from 'vitest';

/** Waits until the page has put the focus on this element or in it: dialogs and menus do so a moment after they are shown. */
export async function focused(element: Locator): Promise<void> {
  await expect
    .poll(() => element.evaluate((here) => here.contains(document.activeElement)), {
      message: `${element.toString()} has the focus`,
    })
    .toBe(true);
}

/** Closes a dialog or menu with Escape, which it notices only once it has the focus. */
export async function closeByEscape(layer: Locator): Promise<void> {
  await focused(layer);
  await layer.page().keyboard.press('Escape');
  await layer.waitFor({ state: 'hidden' });
}

/** Deselects the focused node of the canvas with Escape, which takes the focus from it only with the next frame. */
export async function deselectByEscape(node: Locator): Promise<void> {
  await focused(node);
  await node.page().keyboard.press('Escape');
  await expect
    .poll(() => node.evaluate((here) => here.contains(document.activeElement)), {
      message: `${node.toString()} has lost the focus`,
    })
    .toBe(false);
}
