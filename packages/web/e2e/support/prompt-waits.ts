import type { Frame, Page } from 'playwright-core';

/** Playwright's own part of a frame, which runs in this process. */
interface FrameInside {
  retryWithProgressAndBackoff(progress: unknown, act: unknown): Promise<unknown>;
  retryWithProgressAndTimeouts(
    progress: unknown,
    pausesMs: readonly number[],
    act: unknown,
  ): Promise<unknown>;
}

interface Inside {
  readonly _connection: { toImpl(frame: Frame): FrameInside };
}

/** The last one repeats. */
const PAUSES_MS = [20, 50, 100];

/**
 * Makes waits for an element notice it within 100 ms. Playwright looks five times in the first 270 ms, and then every
 * 500 ms: a page that is there after 300 ms, or a draft kept after 800, was noticed up to half a second later. There is
 * no option for it.
 */
export function waitPromptly(page: Page): void {
  const { _connection } = page as unknown as Inside;
  const frames = Object.getPrototypeOf(_connection.toImpl(page.mainFrame())) as FrameInside;
  if (frames.retryWithProgressAndBackoff === undefined || frames.retryWithProgressAndTimeouts === undefined)
    throw new Error('This version of Playwright waits in another way.');
  frames.retryWithProgressAndBackoff = function (progress, act) {
    return this.retryWithProgressAndTimeouts(progress, PAUSES_MS, act);
  };
}
