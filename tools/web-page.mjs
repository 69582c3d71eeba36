// Builds the admin area if its sources have changed since the last build. Plain JavaScript for any Node from 20 on.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { withLock } from '../packages/database/src/process-lock.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WEB = join(ROOT, 'packages', 'web');
/** Each build gets its own folder here, and `current` names the latest: a running service keeps the one it started with. */
const DIST = join(WEB, 'dist');
const CURRENT = join(DIST, 'current');
const KEPT_BUILDS = 3;

/**
 * Ensures a build of the current sources; of several concurrent processes, one builds and the others wait.
 * @param {(text: string) => void} [say] called if it takes time
 * @returns {Promise<string>} its folder
 * @throws {Error} with the output of a failed build
 */
export async function ensureWebPage(say = () => {}) {
  const wanted = fingerprint();
  const folder = join(DIST, wanted);
  if (isBuilt(wanted)) return folder;
  mkdirSync(DIST, { recursive: true });
  await withLock({ folder: DIST, name: 'lock', task: 'building the admin area', say }, async () => {
    if (isBuilt(wanted)) return;
    say('Building the admin area (once; some seconds) ...');
    await build(wanted);
  });
  return folder;
}

function isBuilt(wanted) {
  return existsSync(CURRENT) && readFileSync(CURRENT, 'utf8') === wanted;
}

/** Built in a new folder, which becomes `current` when complete. */
async function build(wanted) {
  // A file system that can't be locked may be shared by containers, whose processes can have the same id.
  const fresh = join(DIST, `.${process.pid}-${randomBytes(4).toString('hex')}`);
  const { code, output } = await runVite(fresh);
  if (code !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    throw new Error(`The admin area could not be built:\n${output}`);
  }
  rmSync(join(DIST, wanted), { recursive: true, force: true });
  renameSync(fresh, join(DIST, wanted));
  writeFileSync(`${fresh}.current`, wanted);
  renameSync(`${fresh}.current`, CURRENT);
  removeOldBuilds();
}

function removeOldBuilds() {
  const builds = readdirSync(DIST)
    .filter((name) => /^[0-9a-f]{64}$/.test(name))
    .map((name) => ({ path: join(DIST, name), madeMs: statSync(join(DIST, name)).mtimeMs }))
    .sort((a, b) => b.madeMs - a.madeMs);
  for (const { path } of builds.slice(KEPT_BUILDS)) rmSync(path, { recursive: true, force: true });
}

function runVite(outDir) {
  const node = join(ROOT, 'node_modules', '.bin', 'node');
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--logLevel', 'warn', '--outDir', outDir, '--emptyOutDir'];
  const child = spawn(existsSync(node) ? node : process.execPath, args, {
    cwd: WEB,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/**
 * Inputs of the build: the page's own files and the packages it is made of, as their manifests say.
 * @returns {string[]} files and folders, relative to the root
 */
export function pageSources() {
  const packages = new Set(['web']);
  // The loop also visits what it adds.
  for (const name of packages) {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'));
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      if (dependency.startsWith('@millrace/')) packages.add(dependency.slice('@millrace/'.length));
    }
  }
  const folders = [...packages].map((name) => `packages/${name}/src`);
  return [...folders, 'packages/web/index.html', 'packages/web/vite.config.ts', 'package-lock.json'];
}

function fingerprint() {
  const hash = createHash('sha256');
  for (const source of pageSources()) addTo(hash, join(ROOT, source));
  return hash.digest('hex');
}

function addTo(hash, path) {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) {
    hash.update(path.slice(ROOT.length)).update(readFileSync(path));
    return;
  }
  for (const name of readdirSync(path).sort()) if (!name.includes('.test.')) addTo(hash, join(path, name));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    await ensureWebPage((text) => process.stderr.write(`${text}\n`));
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
