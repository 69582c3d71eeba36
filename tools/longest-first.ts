import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import slowTests from './slow-tests.json' with { type: 'json' };

/**
 * Starts with the files that take longest, so that all workers finish together. Vitest would go by the durations of the last run, which a
 * new clone doesn't have; these are committed, and `npm run test:durations` updates them.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = new Map(Object.entries(slowTests));
    const secondsOf = ({ moduleId }: TestSpecification): number =>
      seconds.get(relative(this.ctx.config.root, moduleId)) ?? 0;
    return files.toSorted((a, b) => secondsOf(b) - secondsOf(a));
  }
}
