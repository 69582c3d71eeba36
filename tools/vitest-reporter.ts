import type { SerializedError } from 'vitest';
import type { Reporter, TestCase, TestModule, TestRunEndReason, TestSuite, Vitest } from 'vitest/node';
import { countLine } from './count-line.ts';
import { failureText } from './failure-text.ts';
import { type FileTime, fileTimes, slowestFiles } from './slowest-files.ts';

interface Options {
  /** Test files that this configuration leaves to `npm test`. */
  readonly notRun?: number;
}

/**
 * Prints failures when they occur, not only in the summary, which an interrupted run doesn't reach.
 * Ends a test run with the slowest files and the plain line `N passed, N failed` (`, N skipped` if any), after all other output. Failures
 * outside a test (a file that can't be loaded, a hook, an unhandled rejection, an interrupted run) count as failed. A run without tests
 * fails unless Vitest was told to pass it, as for tests affected by a change.
 */
export default class CountReporter implements Reporter {
  #passed = 0;
  #failed = 0;
  #skipped = 0;
  #times: readonly FileTime[] = [];
  readonly #notRun: number;

  constructor({ notRun = 0 }: Options = {}) {
    this.#notRun = notRun;
  }

  onInit({ config }: Vitest): void {
    // Other reporters and the coverage table print until the end; only here is this the last line.
    process.once('exit', () => {
      if (this.#passed + this.#failed === 0) {
        console.log('No test ran.');
        if (!config.passWithNoTests) this.#failed = 1;
      }
      for (const line of slowestFiles(this.#times)) console.log(line);
      if (this.#notRun > 0) {
        console.log(
          `${this.#notRun} more test files need PostgreSQL, other processes or a browser: npm test`,
        );
      }
      if (this.#failed > 0 && (process.exitCode ?? 0) === 0) process.exitCode = 1;
      console.log(countLine({ passed: this.#passed, failed: this.#failed, skipped: this.#skipped }));
    });
  }

  onTestCaseResult(test: TestCase): void {
    this.#tell(`${test.module.relativeModuleId} > ${test.fullName}`, test.result().errors);
  }

  onTestSuiteResult(suite: TestSuite): void {
    this.#tell(`${suite.module.relativeModuleId} > ${suite.fullName}`, suite.errors());
  }

  onTestModuleEnd(module: TestModule): void {
    this.#tell(module.relativeModuleId, module.errors());
  }

  #tell(name: string, errors: readonly SerializedError[] = []): void {
    if (errors.length > 0) console.log(failureText(name, errors));
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    this.#times = fileTimes(modules);
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
