import type { Page } from 'playwright-core';
import { settle } from './places.ts';

/** A page to visit. */
export interface Stop {
  readonly name: string;
  readonly address: string;
  /** Actions before the inspection. */
  readonly open?: (page: Page) => Promise<void>;
}

/** Inspects a page and leaves it unchanged for the next inspector. */
export type Inspector = (page: Page) => Promise<readonly string[]>;

/** Violations found by an inspector, by stop. */
export type Findings = { readonly [stop: string]: readonly string[] };

/** Runs several inspectors on one walk, because loading a page takes longer than inspecting it. */
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
  for (const stop of stops) {
    await page.goto(stop.address);
    await settle(page);
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
