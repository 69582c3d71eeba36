#!/usr/bin/env node
// Plain JavaScript that any Node from 20 on can parse: it only finds the pinned Node and hands over to it,
// because the machine's own Node may be too old to run TypeScript by type stripping.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const pinned = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));
const node = existsSync(pinned) ? pinned : process.execPath;
const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url));
const child = spawn(node, [cli, ...process.argv.slice(2)], { stdio: 'inherit' });
// A terminal's Ctrl-C reaches both processes: the child decides when to stop, this one only waits for it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => signal !== 'SIGINT' && child.kill(signal));
}
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
});
