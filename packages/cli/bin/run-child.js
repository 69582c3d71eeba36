// Plain JavaScript that any Node from 20 on can parse: the launcher of the pinned Node shares it.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

const WATCH_MS = 500;
/** npm, possibly a shell started by it, and this process. */
const MOST_ANCESTORS = 3;

/**
 * Runs a program to completion with this process's stdio. Signals are forwarded, and the program is told to stop if npm, which started this
 * process, ends: npm forwards only some of the signals it receives, and the others kill it.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, passesInterrupt?: boolean}} [options] `passesInterrupt`: false for a program to which a
 * second SIGINT means something else, because a terminal's Ctrl-C also reaches it directly
 * @returns {Promise<number>} the exit code, computed as shells do if a signal ended it
 */
export function runChild(program, args, { passesInterrupt = true, ...options } = {}) {
  const child = spawn(program, args, { ...options, stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || passesInterrupt) child.kill(signal);
    });
  }
  const unwatch = onNpmEnd(() => child.kill('SIGTERM'));
  return new Promise((resolve) => {
    child.on('error', (error) => {
      unwatch();
      process.stderr.write(`${program} could not be started: ${error.message}\n`);
      resolve(127);
    });
    child.on('close', (code, signal) => {
      unwatch();
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}

/**
 * Calls `then` once npm has ended, if npm started this process. Call it as early as possible: after npm has gone, it can't be detected.
 * @param {() => void} then
 * @returns {() => void} stops watching
 */
export function onNpmEnd(then) {
  const npm = findNpm();
  if (npm === null) return () => {};
  const timer = setInterval(() => {
    if (startOf(npm.pid) === npm.start) return;
    clearInterval(timer);
    then();
  }, WATCH_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** The npm above this process and its start time: process ids are reused. */
function findNpm() {
  if (process.env.npm_command === undefined) return null;
  let pid = process.ppid;
  for (let level = 0; level < MOST_ANCESTORS && pid > 1; level += 1) {
    const [command = ''] = read(`/proc/${pid}/cmdline`).split('\0\0');
    if (/^(npm|npx)[ \0]|\/(npm|npx)(-cli\.js)?\0/.test(`${command}\0`)) return { pid, start: startOf(pid) };
    pid = Number(fieldsOf(pid)[1] ?? 0);
  }
  return null;
}

/** Empty for a process that is gone or a zombie. */
function startOf(pid) {
  const [state, ...fields] = fieldsOf(pid);
  return state === undefined || 'ZX'.includes(state) ? '' : fields[18];
}

/** The fields after the name in /proc/<pid>/stat: state, parent id and so on. */
function fieldsOf(pid) {
  const [, rest = ''] = /^\d+ \(.*\) (.*)$/s.exec(read(`/proc/${pid}/stat`)) ?? [];
  return rest === '' ? [] : rest.trim().split(' ');
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
