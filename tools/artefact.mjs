// Builds what `npm start` runs and `npm pack` packs: the service and the command line in one folder, with the admin area. Only if its
// sources have changed since the last build. Plain JavaScript for any Node from 20 on.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { ensureBuild, packageSources } from './builds.mjs';
import { runTool } from './run-tool.mjs';
import { ensureWebPage, pageSources } from './web-page.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** undici needs it; of what is bundled, nothing needs a later one. */
const OLDEST_NODE = '22.19.0';
const FILES = [
  ...['bin', 'lib', 'migrations', 'code', 'docs', 'examples', 'web', 'licences.txt'],
  ...['chat', 'image', 'pdf'],
];

/**
 * Ensures a build of the current sources; of several concurrent processes, one builds and the others wait.
 * @param {(text: string) => void} [say] called if it takes time
 * @returns {Promise<string>} its folder, which `npm pack` can pack
 * @throws {Error} with the output of a failed build
 */
export async function ensureArtefact(say = () => {}) {
  const page = await ensureWebPage(say);
  return await ensureBuild(
    {
      folder: join(ROOT, 'dist'),
      sources: artefactSources(),
      what: 'the service',
      make: (folder) => build(folder, page),
    },
    say,
  );
}

/** @returns {string[]} files and folders, relative to the root */
export function artefactSources() {
  return [
    ...packageSources(['cli']),
    ...pageSources(),
    'packages/cli/package.json',
    'packages/cli/bin',
    'packages/database/package.json',
    'packages/ports/package.json',
    'docs',
    'examples',
    'tools/artefact.mjs',
    'tools/bundle.ts',
    'tools/licences.ts',
    'LICENSE',
    'README.md',
  ];
}

async function build(folder, page) {
  for (const tool of ['tools/bundle.ts', 'tools/licences.ts']) {
    await runTool([tool, folder]).catch((error) => {
      throw new Error(`The service could not be built:\n${error.message}`);
    });
  }
  cpSync(page, join(folder, 'web', basename(page)), { recursive: true });
  writeFileSync(join(folder, 'web', 'current'), basename(page));
  cpSync(join(ROOT, 'packages/cli/bin/packaged.js'), join(folder, 'bin', 'millrace.js'));
  cpSync(join(ROOT, 'packages/cli/bin/run-child.js'), join(folder, 'bin', 'run-child.js'));
  for (const file of ['LICENSE', 'README.md']) cpSync(join(ROOT, file), join(folder, file));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
}

/** Everything is bundled, except PostgreSQL and Python. */
function manifest() {
  const { version, license } = read('packages/cli/package.json');
  return {
    name: 'millrace',
    version,
    description: read('package.json').description,
    license,
    type: 'module',
    bin: { millrace: 'bin/millrace.js' },
    files: FILES,
    os: ['linux'],
    engines: { node: `>=${OLDEST_NODE}` },
    optionalDependencies: {
      ...read('packages/database/package.json').optionalDependencies,
      ...read('packages/ports/package.json').optionalDependencies,
    },
  };
}

function read(path) {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
}

/** Packs the package into a folder. @returns {Promise<string>} the file */
async function pack(folder, into) {
  mkdirSync(into, { recursive: true });
  const args = ['pack', folder, '--pack-destination', into, '--json', '--ignore-scripts', '--loglevel=error'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT });
  return join(into, JSON.parse(stdout)[0].filename);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    const { pack: into } = parseArgs({ options: { pack: { type: 'string' } } }).values;
    const folder = await ensureArtefact((text) => process.stderr.write(`${text}\n`));
    process.stdout.write(`${into === undefined ? folder : await pack(folder, resolve(into))}\n`);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
