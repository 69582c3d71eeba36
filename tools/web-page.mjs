// Builds the admin area if its sources have changed since the last build. Plain JavaScript for any Node from 20 on.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureBuild, packageSources } from './builds.mjs';
import { runTool } from './run-tool.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WEB = join(ROOT, 'packages', 'web');

/**
 * Ensures a build of the current sources; of several concurrent processes, one builds and the others wait.
 * @param {(text: string) => void} [say] called if it takes time
 * @returns {Promise<string>} its folder
 * @throws {Error} with the output of a failed build
 */
export async function ensureWebPage(say = () => {}) {
  return await ensureBuild(
    { folder: join(WEB, 'dist'), sources: pageSources(), what: 'the admin area', make: build },
    say,
  );
}

async function build(folder) {
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--logLevel', 'warn', '--outDir', folder, '--emptyOutDir'];
  await runTool(args, { cwd: WEB }).catch((error) => {
    throw new Error(`The admin area could not be built:\n${error.message}`);
  });
}

/**
 * Inputs of the build: the page's own files and the packages it is made of.
 * @returns {string[]} files and folders, relative to the root
 */
export function pageSources() {
  return [
    ...packageSources(['web']),
    'packages/web/index.html',
    'packages/web/vite.config.ts',
    'package-lock.json',
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    await ensureWebPage((text) => process.stderr.write(`${text}\n`));
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
