import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Each of these starts processes or a browser. */
const LONG = /\/packages\/(cli|web\/e2e)\//;

/**
 * Vitest starts with the files that took longest in the last run, so that all workers finish together. Without a record, as in a fresh
 * checkout, it goes by size, a poor predictor: then files known to be slow come first.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isRecorded = sorted.every((file) => this.ctx.cache.getTestSpecificationResult(file) !== undefined);
    if (isRecorded) return sorted;
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
