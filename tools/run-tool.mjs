// Plain JavaScript for any Node from 20 on.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Runs a script under the pinned Node, for production.
 * @param {readonly string[]} args
 * @param {{cwd?: string}} [options]
 * @returns {Promise<string>} its output
 * @throws {Error} with its output, if it fails
 */
export function runTool(args, { cwd = ROOT } = {}) {
  const pinned = join(ROOT, 'node_modules', '.bin', 'node');
  const child = spawn(existsSync(pinned) ? pinned : process.execPath, args, {
    cwd,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(output));
    });
  });
}
