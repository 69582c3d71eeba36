import type { TestModule } from 'vitest/node';

/** A test file and its duration, including hooks and imports. */
export interface FileTime {
  readonly path: string;
  readonly ms: number;
}

/** A heading and one line per file, slowest first; empty without files. */
export function slowestFiles(times: readonly FileTime[], most = 20): string[] {
  const slowest = times.toSorted((a, b) => b.ms - a.ms).slice(0, most);
  if (slowest.length === 0) return [];
  const seconds = slowest.map(({ ms }) => (ms / 1000).toFixed(1));
  const width = Math.max(...seconds.map((each) => each.length));
  return [
    `Slowest test files (${slowest.length} of ${times.length}), in seconds:`,
    ...slowest.map(({ path }, index) => `  ${seconds[index]?.padStart(width)}  ${path}`),
  ];
}

export function fileTimes(modules: readonly TestModule[]): FileTime[] {
  return modules.map((module) => {
    const times = module.diagnostic();
    const ms =
      times.environmentSetupDuration +
      times.prepareDuration +
      times.collectDuration +
      times.setupDuration +
      times.duration;
    return { path: module.relativeModuleId, ms };
  });
}
