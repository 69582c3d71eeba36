import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule, TestRunEndReason } from 'vitest/node';
import { fileTimes } from './slowest-files.ts';

const RECORD = new URL('slow-tests.json', import.meta.url);
/** The others fill the gaps at the end, in any order. */
const SLOW_MS = 5_000;

/** Records the seconds that slow files take, slowest first. The next runs start in this order. */
export default class SlowTestsReporter implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    _errors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    if (reason !== 'passed') return;
    const slow = fileTimes(modules)
      .filter(({ ms }) => ms >= SLOW_MS)
      .toSorted((a, b) => b.ms - a.ms);
    const seconds = Object.fromEntries(slow.map(({ path, ms }) => [path, Math.round(ms / 1000)]));
    writeFileSync(RECORD, `${JSON.stringify(seconds, null, 2)}\n`);
  }
}
