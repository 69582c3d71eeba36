import type { SerializedError } from 'vitest';
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';
import { countLine } from './count-line.ts';

/**
 * Ends a test run with the plain line `N passed, N failed` (`, N skipped` when there are any), after everything
 * else the run prints. What fails outside a test (a file that cannot be loaded, a hook, an unhandled rejection, an
 * interrupted run) counts as failed, and a run without a single test fails.
 */
export default class CountReporter implements Reporter {
  #passed = 0;
  #failed = 0;
  #skipped = 0;

  onInit(): void {
    // Other reporters and the coverage table print until the end; only here is the last line really the last.
    process.once('exit', () => {
      if (this.#passed + this.#failed === 0) {
        console.log('No test ran.');
        this.#failed = 1;
      }
      if (this.#failed > 0 && (process.exitCode ?? 0) === 0) process.exitCode = 1;
      console.log(countLine({ passed: this.#passed, failed: this.#failed, skipped: this.#skipped }));
    });
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const states = tests.map((test) => test.result().state);
    this.#passed = states.filter((state) => state === 'passed').length;
    this.#skipped = states.filter((state) => state === 'skipped').length;
    this.#failed =
      tests.length -
      this.#passed -
      this.#skipped +
      suites.filter((suite) => suite.errors().length > 0).length +
      unhandledErrors.length +
      (reason === 'interrupted' ? 1 : 0);
  }
}
