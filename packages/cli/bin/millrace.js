#!/usr/bin/env node
// Plain JavaScript that any Node from 20 on can parse: it only finds the pinned Node and runs it, because the machine's own Node may be too
// old to strip types.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { NODE_OPTIONS } from './node-options.js';
import { runChild } from './run-child.js';

const pinned = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));
const node = existsSync(pinned) ? pinned : process.execPath;
const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url));
process.exitCode = await runChild(node, [...NODE_OPTIONS, cli, ...process.argv.slice(2)]);
