export interface Build {
  /** Where builds are kept. */
  readonly folder: string;
  /** Files and folders that the build depends on, relative to the root. */
  readonly sources: readonly string[];
  /** Follows "Building". */
  readonly what: string;
  /** Builds into a folder that doesn't exist yet. */
  make(folder: string): Promise<void>;
}
export function ensureBuild(build: Build, say: (text: string) => void): Promise<string>;
export function packageSources(names: readonly string[]): string[];
