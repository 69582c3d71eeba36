import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countLine } from './count-line.ts';

/**
 * Runs every check that isn't a test (types, format, lint, layers, dead code, generated files), at least two at a time. Prints one line per
 * check with its duration, plus the output of failed ones. `node tools/check.ts NAME...` runs only those named.
 */
interface Check {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  /** Judges the output of a command whose exit code isn't enough: returns an error message, or null if all is well. */
  judge?(output: string): string | null;
}

interface Verdict {
  readonly check: Check;
  readonly passed: boolean;
  readonly seconds: number;
  readonly output: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = fileURLToPath(new URL('../node_modules/.bin', import.meta.url));
const node = process.execPath;

const CHECKS: readonly Check[] = [
  { name: 'types', command: [node, 'node_modules/typescript-native/bin/tsc', '--project', '.'] },
  {
    name: 'types of the admin area',
    command: [node, 'node_modules/typescript-native/bin/tsc', '--project', 'packages/web'],
  },
  { name: 'format and lint', command: ['biome', 'check', '--error-on-warnings', '.'] },
  {
    name: 'type-aware lint',
    command: ['oxlint', '--type-aware', '--deny-warnings', 'packages', 'tools', 'bench'],
  },
  {
    name: 'layers',
    command: [
      'depcruise',
      '--config',
      '.dependency-cruiser.cjs',
      '--output-type',
      'json',
      'packages',
      'tools',
      'bench',
    ],
    judge: judgeLayers,
  },
  { name: 'dead code', command: ['knip', '--no-progress', '--treat-config-hints-as-errors'] },
  { name: 'schema.sql is what the migrations make', command: [node, 'tools/dump-schema.ts', '--check'] },
  { name: 'openapi.json is what the routes say', command: [node, 'tools/dump-openapi.ts', '--check'] },
  { name: 'openapi.json is good OpenAPI', command: ['redocly', 'lint', 'packages/api/openapi.json'] },
  { name: 'openapi.json by the rules of Spectral', command: [node, 'tools/spectral.ts'] },
  { name: 'docs/nodes.md is what the nodes say', command: [node, 'tools/node-reference.ts', '--check'] },
  {
    name: 'docs/performance.md is the newest measurement',
    command: [node, 'bench/main.ts', '--document', '--check'],
  },
  { name: 'docs/cli.md is what --help says', command: [node, 'tools/cli-reference.ts', '--check'] },
];

/** dependency-cruiser exits with 0 even if it could read nothing at all, so the modules it saw are counted. */
function judgeLayers(output: string): string | null {
  const { summary } = JSON.parse(output) as {
    summary: { totalCruised: number; violations: { rule: { name: string }; from: string; to: string }[] };
  };
  if (summary.totalCruised === 0)
    return 'dependency-cruiser saw no module: it found no TypeScript it can use.';
  if (summary.violations.length === 0) return null;
  return summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`).join('\n');
}

async function run(check: Check): Promise<Verdict> {
  const started = performance.now();
  const [program, ...args] = check.command;
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`, NO_COLOR: '1' };
  const { code, output } = await new Promise<{ code: number; output: string }>((resolve) => {
    const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (status) => {
      const text = Buffer.concat(status === 0 ? chunks : [...chunks, ...errors]).toString();
      resolve({ code: status ?? 1, output: text });
    });
  });
  const complaint = judged(check, code, output);
  return {
    check,
    passed: complaint === null,
    seconds: (performance.now() - started) / 1000,
    output: complaint ?? '',
  };
}

function judged(check: Check, code: number, output: string): string | null {
  if (check.judge === undefined) return code === 0 ? null : output;
  try {
    return check.judge(output);
  } catch (error) {
    return `${output}\nThe output could not be read: ${String(error)}`;
  }
}

function report({ check, passed, seconds, output }: Verdict): void {
  console.log(`${passed ? 'ok     ' : 'FAILED '} ${check.name} (${seconds.toFixed(1)} s)`);
  if (!passed) console.log(output.trim().replace(/^/gm, '        '));
}

const wanted = process.argv.slice(2);
const waiting = CHECKS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const verdicts: Verdict[] = [];

async function takeTurns(): Promise<void> {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    const verdict = await run(check);
    verdicts.push(verdict);
    report(verdict);
  }
}

if (waiting.length === 0)
  throw new Error(`no such check; there are ${CHECKS.map(({ name }) => `"${name}"`).join(', ')}`);
await Promise.all(Array.from({ length: Math.max(2, Math.min(4, availableParallelism())) }, takeTurns));
const failed = verdicts.filter(({ passed }) => !passed).length;
console.log(countLine({ passed: verdicts.length - failed, failed, skipped: 0 }));
if (failed > 0) process.exitCode = 1;
