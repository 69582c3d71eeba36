import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kill } from '@millrace/testing/processes';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findHolder, takeLock, withLock } from './process-lock.mjs';

const MODULE = fileURLToPath(new URL('./process-lock.mjs', import.meta.url));
/** Puts a process in network and process namespaces of its own, as a container does. */
const CONTAINER = ['unshare', '--user', '--map-root-user', '--net', '--pid', '--fork', '--kill-child'];
const hasContainers = spawnSync(CONTAINER[0] ?? '', [...CONTAINER.slice(1), 'true']).status === 0;

let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  // Longer than the path of a socket may be.
  folder = await mkdtemp(join(tmpdir(), `mr-lock-${'x'.repeat(120)}-`));
});

afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  await rm(folder, { recursive: true, force: true });
});

/** Another process that has the lock until it is killed. */
async function holder(prefix: readonly string[] = []): Promise<ChildProcess> {
  const script = `import { takeLock } from ${JSON.stringify(MODULE)};
    console.log(await takeLock(${JSON.stringify(folder)}, 'lock') === null ? 'refused' : 'taken');
    setInterval(() => {}, 60_000);`;
  const [command, ...args] = [...prefix, process.execPath, '--input-type=module', '--eval', script];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [messages] = await once(child.stdout, 'data');
  expect(String(messages)).toBe('taken\n');
  return child;
}

describe('a lock', () => {
  test('ends with the process that has it, and then goes to one only', async () => {
    const child = await holder();
    expect(await takeLock(folder, 'lock')).toBeNull();
    expect(await findHolder(folder, 'lock')).toBe(child.pid);
    await kill(child);
    expect(await findHolder(folder, 'lock')).toBeNull();
    const taken = await Promise.all(Array.from({ length: 8 }, () => takeLock(folder, 'lock')));
    expect(taken.filter((lock) => lock !== null)).toHaveLength(1);
    for (const lock of taken) await lock?.release();
  });

  test('goes to one at a time, however often it is taken and released', async () => {
    let holders = 0;
    let rounds = 0;
    const takeTurns = async (): Promise<void> => {
      for (let count = 0; count < 25; count += 1) {
        await withLock({ folder, name: 'lock', task: 'testing', say: () => {} }, async () => {
          holders += 1;
          expect(holders).toBe(1);
          await findHolder(folder, 'lock');
          rounds += 1;
          holders -= 1;
        });
      }
    };
    await Promise.all(Array.from({ length: 4 }, takeTurns));
    expect(rounds).toBe(100);
    expect(await readdir(folder)).toEqual(['lock.100']);
  });

  test('is kept by a process that is stopped', async () => {
    const child = await holder();
    child.kill('SIGSTOP');
    expect(await takeLock(folder, 'lock')).toBeNull();
    expect(await findHolder(folder, 'lock')).toBeNull();
  });

  test('waiting for it ends with its holder', async () => {
    const child = await holder();
    const messages: string[] = [];
    const waiting = Promise.withResolvers<void>();
    const say = (text: string): void => {
      messages.push(text);
      waiting.resolve();
    };
    const worked = withLock({ folder, name: 'lock', task: 'testing', say }, async () => 'done');
    await waiting.promise;
    await kill(child);
    expect(await worked).toBe('done');
    expect(messages).toEqual(['Another process is testing; waiting for it ...']);
  });

  test('a folder that cannot be locked is reported, and the work is done', async () => {
    const messages: string[] = [];
    const lock = {
      folder: join(folder, 'missing'),
      name: 'lock',
      task: 'testing',
      say: messages.push.bind(messages),
    };
    expect(await withLock(lock, async () => 'done')).toBe('done');
    expect(messages.join()).toMatch(/can't be locked \(ENOENT.*Make sure that no other process is testing/);
  });

  test.runIf(hasContainers)('holds between containers that share the folder', async () => {
    const child = await holder(CONTAINER);
    expect(await takeLock(folder, 'lock')).toBeNull();
    const worked = withLock({ folder, name: 'lock', task: 'testing', say: () => {} }, async () => 'done');
    await kill(child);
    expect(await worked).toBe('done');
    expect(await readdir(folder)).toEqual(['lock.2']);
  });
});
