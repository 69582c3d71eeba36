import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pageSources, takeLock } from './web-page.mjs';

const NAME = `\0millrace-web-test-${process.pid}`;
const MODULE = fileURLToPath(new URL('./web-page.mjs', import.meta.url));

/** Another process that has the lock until it is killed. */
async function holder() {
  const script = `import { pageSources, takeLock } from ${JSON.stringify(MODULE)};
    const lock = await takeLock(${JSON.stringify(NAME)});
    lock.ref();
    console.log('held');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

test('the lock of a build goes with the process that had it, at once and to one only', async () => {
  const child = await holder();
  expect(await takeLock(NAME)).toBeNull();
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
  const [first, second] = await Promise.all([takeLock(NAME), takeLock(NAME)]);
  const locks = [first, second].filter((lock) => lock !== null);
  expect(locks).toHaveLength(1);
  for (const lock of locks) await new Promise((resolve) => lock.close(resolve));
});

test('a build is of every package that the page imports, directly or not, and of no other', () => {
  const packages = pageSources().filter((source) => /^packages\/[^/]+\/src$/.test(source));
  const names = packages.map((folder) => folder.split('/')[1]).sort();
  expect(names).toEqual(['admin-api', 'editor', 'engine', 'execution-pages', 'messages', 'ui', 'web']);
});
