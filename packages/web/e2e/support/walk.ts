import type { Page } from 'playwright-core';
import { settle } from './places.ts';

/** Somewhere that a walk comes by. */
export interface Stop {
  readonly name: string;
  readonly address: string;
  /** What is done there before anything is looked at. */
  readonly open?: (page: Page) => Promise<void>;
}

/** Looks at a page, and leaves it as it was for the next inspector. */
export type Inspector = (page: Page) => Promise<readonly string[]>;

/** What an inspector has found wrong, by the name of the stop. */
export type Findings = { readonly [stop: string]: readonly string[] };

/** Takes several inspectors along on one walk, because loading a page takes longer than looking at it. */
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

/** Does it when it is first asked for; whoever asks later gets the same. */
export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
