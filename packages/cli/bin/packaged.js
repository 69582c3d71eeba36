#!/usr/bin/env node
// The command of the package. Plain JavaScript that old versions of Node can parse, too.
import { readFileSync } from 'node:fs';
import { onNpmEnd } from './run-child.js';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const oldest = engines.node.replace('>=', '');
if (process.versions.node.localeCompare(oldest, 'en', { numeric: true }) < 0) {
  process.stderr.write(`Millrace needs Node ${oldest} or later; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  // npm and npx pass on only some of the signals that they get, and a shell may be between.
  onNpmEnd(() => process.kill(process.pid, 'SIGTERM'));
  await import(new URL('../lib/millrace.js', import.meta.url).href);
}
