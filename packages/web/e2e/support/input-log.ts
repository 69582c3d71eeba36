import type { Page } from 'playwright-core';

declare global {
  interface Window {
    /** The last input events, oldest first. */
    inputLog?: string[];
  }
}

/** Runs in the page before its own scripts: keeps the last input events, with the element each one reached. */
export function recordInput(): void {
  const MAX_ENTRIES = 40;
  const MAX_TEXT = 40;
  const log: string[] = [];
  window.inputLog = log;
  const describe = (target: EventTarget | null): string => {
    if (!(target instanceof Element)) return 'the page';
    const { x, y, width, height } = target.getBoundingClientRect();
    const box = [x, y, width, height].map(Math.round).join(' ');
    const text = (target.getAttribute('aria-label') ?? target.textContent ?? '').slice(0, MAX_TEXT);
    return `${target.tagName.toLowerCase()}[${target.getAttribute('role') ?? ''}] "${text}" at ${box}`;
  };
  const note = (event: Event): void => {
    const where = event instanceof MouseEvent ? ` ${event.clientX},${event.clientY}` : '';
    const key = event instanceof KeyboardEvent ? ` ${event.key}` : '';
    log.push(`${performance.now().toFixed(0)} ms ${event.type}${where}${key}: ${describe(event.target)}`);
    if (log.length > MAX_ENTRIES) log.shift();
  };
  for (const type of ['pointerdown', 'pointerup', 'pointercancel', 'click', 'keydown', 'focusin', 'scroll']) {
    window.addEventListener(type, note, { capture: true, passive: true });
  }
}

/** The last input events of a page, oldest first; none if it does not respond. */
export async function inputLogOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => window.inputLog ?? []).catch(() => []);
}
