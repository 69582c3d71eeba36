import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatMarkdown } from './report.ts';
import type { BenchResult } from './result.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const resultsFolder = join(root, 'bench/results');
const page = join(root, 'docs/performance.md');
const BEGIN = '<!-- Written by: npm run bench -- --document -->';
const END = '<!-- End of what the command writes -->';

/** Stores a result under its date and commit. Returns the file's path relative to the project root. */
export function recordResult(result: BenchResult): string {
  const time = result.date.slice(0, 16).replace(/[-:]/g, '').replace('T', '-');
  const name = `${time}-${result.commit.replace('+', '')}.json`;
  mkdirSync(resultsFolder, { recursive: true });
  writeFileSync(join(resultsFolder, name), `${JSON.stringify(result, null, 2)}\n`);
  return `bench/results/${name}`;
}

/** The abbreviated commit of the working tree, followed by `+` if files differ from it. */
export function readCommit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  try {
    return `${git('rev-parse', '--short=10', 'HEAD')}${git('status', '--porcelain') === '' ? '' : '+'}`;
  } catch {
    return 'unknown';
  }
}

/**
 * Writes the numbers of the newest recorded result into docs/performance.md.
 *
 * @param check true: write nothing
 * @returns whether the page was up to date
 */
export function documentNewest(check: boolean): boolean {
  const newest = (existsSync(resultsFolder) ? readdirSync(resultsFolder) : [])
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .at(-1);
  if (newest === undefined)
    throw new Error('bench/results/ holds no result; make one: npm run bench -- --record');
  const result: BenchResult = JSON.parse(readFileSync(join(resultsFolder, newest), 'utf8'));
  const before = readFileSync(page, 'utf8');
  const after = replaceSection(before, `From \`bench/results/${newest}\`:\n\n${formatMarkdown(result)}`);
  if (!check && after !== before) writeFileSync(page, after);
  return after === before;
}

/** Replaces the text between the two markers of a page. */
export function replaceSection(text: string, section: string): string {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin)
    throw new Error(`docs/performance.md lacks the lines "${BEGIN}" and "${END}"`);
  return `${text.slice(0, begin)}${BEGIN}\n\n${section}\n\n${text.slice(end)}`;
}
