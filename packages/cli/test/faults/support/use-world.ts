import { afterAll, afterEach, beforeAll, beforeEach, inject, onTestFailed, vi } from 'vitest';
import type { Environment } from './service-process.ts';
import { World } from './world.ts';

/** Real processes on a possibly busy machine: the limit only ends tests that hang. */
export function giveTime(): void {
  vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });
}

/**
 * Creates a world for the tests of a file; each test's processes end with it.
 *
 * @param environment of every process of the service
 */
export function useWorld(environment: Environment = {}): () => World {
  let world: World | undefined;
  const current = (): World => {
    if (world === undefined) throw new Error('The world is made before the first test');
    return world;
  };
  giveTime();
  beforeAll(async () => {
    world = await World.create({ preparedDataDir: inject('preparedDataDir') }, environment);
  });
  beforeEach(() => {
    current().forgetServices();
    onTestFailed(async () => {
      process.stderr.write(`${await current().logs()}\n`);
    });
  });
  afterEach(() => current().endServices());
  afterAll(() => world?.destroy());
  return current;
}
