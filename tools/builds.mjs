// Builds something once for given sources: the admin area, the whole artefact. Plain JavaScript for any Node from 20 on.
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
import { fileURLToPath } from 'node:url';
import { withLock } from '../packages/database/src/process-lock.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const KEPT_BUILDS = 3;

/**
 * Ensures a build of the current sources; of several concurrent processes, one builds and the others wait. Each build gets its own folder
 * in `folder`, and the file `current` names the latest: a running service keeps the one it started with.
 * @param {import('./builds.mjs').Build} build
 * @param {(text: string) => void} say called if it takes time
 * @returns {Promise<string>} the folder of the build
 * @throws {Error} what `make` throws
 */
export async function ensureBuild({ folder, sources, what, ...builder }, say) {
  const wanted = fingerprint(sources);
  const place = join(folder, wanted);
  if (isBuilt(folder, wanted)) return place;
  mkdirSync(folder, { recursive: true });
  await withLock({ folder, name: 'lock', task: `building ${what}`, say }, async () => {
    if (isBuilt(folder, wanted)) return;
    say(`Building ${what} (once; some seconds) ...`);
    await build(folder, wanted, (fresh) => builder.make(fresh));
  });
  return place;
}

function isBuilt(folder, wanted) {
  const current = join(folder, 'current');
  // Someone may have deleted the build and left the file.
  return existsSync(current) && readFileSync(current, 'utf8') === wanted && existsSync(join(folder, wanted));
}

/** Built in a new folder, which becomes `current` when complete. */
async function build(folder, wanted, make) {
  // A file system that can't be locked may be shared by containers, whose processes can have the same id.
  const fresh = join(folder, `.${process.pid}-${randomBytes(4).toString('hex')}`);
  try {
    await make(fresh);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  }
  rmSync(join(folder, wanted), { recursive: true, force: true });
  renameSync(fresh, join(folder, wanted));
  writeFileSync(`${fresh}.current`, wanted);
  renameSync(`${fresh}.current`, join(folder, 'current'));
  removeOldBuilds(folder);
}

function removeOldBuilds(folder) {
  const builds = readdirSync(folder)
    .filter((name) => /^[0-9a-f]{64}$/.test(name))
    .map((name) => ({ path: join(folder, name), madeMs: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.madeMs - a.madeMs);
  for (const { path } of builds.slice(KEPT_BUILDS)) rmSync(path, { recursive: true, force: true });
}

/**
 * The sources of packages of this repository and of those they are made of, as their manifests say.
 * @param {readonly string[]} names of folders in `packages`
 * @returns {string[]} relative to the root
 */
export function packageSources(names) {
  const packages = new Set(names);
  // The loop also visits what it adds.
  for (const name of packages) {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'));
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      if (dependency.startsWith('@millrace/')) packages.add(dependency.slice('@millrace/'.length));
    }
  }
  return [...packages].map((name) => `packages/${name}/src`);
}

/** Changes with the content of the files and folders, except for tests. */
function fingerprint(sources) {
  const hash = createHash('sha256');
  for (const source of sources) addTo(hash, join(ROOT, source));
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
