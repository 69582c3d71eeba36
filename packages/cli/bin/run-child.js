// Plain JavaScript that any Node from 20 on can parse: what starts the pinned Node shares it.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

const WATCH_MS = 500;
/** npm, a shell that it may start, and this process. */
const MOST_ANCESTORS = 3;

/**
 * Runs a program to its end, with this process's input and outputs. Signals are passed on, and when npm, which has
 * started this process, ends, the program is told to end too: of the signals that somebody sends to npm alone it
 * passes on some only, and dies of the others.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, passesInterrupt?: boolean}} [options] `passesInterrupt`: false for a
 *   program that takes a second SIGINT for another wish, as a terminal's Ctrl-C reaches it directly, too
 * @returns {Promise<number>} the exit code, made as shells do when a signal ended it
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
 * Calls `then` once when npm has ended, if it is npm that started this process; asked for as early as possible, since
 * who has lost npm already cannot know of it.
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

/** The npm above this process, and when it was started: ids of processes are given out again. */
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

/** Empty for a process that is gone, or that has ended and was not collected by its parent. */
function startOf(pid) {
  const [state, ...fields] = fieldsOf(pid);
  return state === undefined || 'ZX'.includes(state) ? '' : fields[18];
}

/** What follows the name in /proc/<pid>/stat: the state, the parent's id and so on. */
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
