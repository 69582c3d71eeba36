import type { Page } from 'playwright-core';
import { settle } from './places.ts';

/** A page to visit. */
export interface Stop {
  readonly name: string;
  readonly address: string;
  /** It is opened on what the stop before has left. */
  readonly continues?: true;
  /** Actions before the inspection. */
  readonly open?: (page: Page) => Promise<void>;
}

/** Inspects a page and leaves it unchanged for the next inspector. */
export type Inspector = (page: Page) => Promise<readonly string[]>;

/** Violations found by an inspector, by stop. */
export type Findings = { readonly [stop: string]: readonly string[] };

/**
 * Opens another page of the UI as its own links do, in the same document: a new one compiles and evaluates all scripts
 * again, most of what it costs. An unknown page comes first, so that nothing of the page before is reused.
 */
export async function goWithin(page: Page, address: string): Promise<void> {
  for (const next of [new URL('/nowhere/between', address).href, address]) {
    const heading = await page.evaluateHandle(() => document.querySelector('h1, h2'));
    await page.evaluate((to) => history.pushState(null, '', to), next);
    await page.waitForFunction((before) => before?.isConnected !== true, heading);
    await heading.dispose();
  }
}

/** Visits the pages one after the other, and runs all inspectors on each. The page has to show the UI already. */
export async function walk<Name extends string>(
  page: Page,
  stops: readonly Stop[],
  inspectors: { readonly [N in Name]: Inspector },
): Promise<{ readonly [N in Name]: Findings }> {
  const checks = Object.entries<Inspector>(inspectors).map(([name, inspect]) => ({
    name,
    inspect,
    found: {} as Record<string, readonly string[]>,
  }));
  await settle(page);
  for (const stop of stops) {
    if (stop.continues !== true) {
      await goWithin(page, stop.address);
      await settle(page);
    }
    await stop.open?.(page);
    for (const { inspect, found } of checks) {
      const problems = await inspect(page);
      if (problems.length > 0) found[stop.name] = problems;
    }
  }
  const results = Object.fromEntries(checks.map(({ name, found }) => [name, found]));
  return results as { readonly [N in Name]: Findings };
}

/** Memoizes the first call for all later ones. */
export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
