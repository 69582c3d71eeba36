import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, cp, mkdir, mkdtemp, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clusterFolder } from '@millrace/database/embedded/cluster';
import { findPostmaster } from '@millrace/database/embedded/postmaster';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { launchChromium, type TestBrowser } from './support/chromium.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

let copy: string;
let browser: TestBrowser;
const cleanUps: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  copy = await copyProject();
  browser = await launchChromium();
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  await browser.close();
  await rm(copy, { recursive: true, force: true });
});

test('one address for the page, which changes while it is open, and for the service, which restarts', async () => {
  const { output, address, interrupt } = await startDevelopment();
  expect(output().match(/^Millrace is ready: /gm)).toHaveLength(1);
  const setupUrl = /\(this link works once\): (\S+)/.exec(output())?.[1] ?? '';
  expect(setupUrl).toContain(address);
  const apiKey = /shown this one time only: (\S+)/.exec(output())?.[1] ?? '';

  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(240_000);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) complaints.push(message.text());
  });
  await page.goto(setupUrl);
  await page.getByRole('textbox', { name: 'Your name' }).fill('Ada Lovelace');
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('ada@example.com');
  await page.getByLabel('New password').fill('correct horse battery');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/o\/\d+\/workflows$/);

  // The proxy passes the cookie on to the service and streams the events back.
  await page.goto(page.url().replace(/workflows$/, 'executions'));
  const streamed = page.evaluate(
    async (path) => {
      const response = await fetch(path);
      const reader = response.body?.getReader();
      return new TextDecoder().decode((await reader?.read())?.value);
    },
    `/api/admin/orgs/${/\/o\/(\d+)/.exec(page.url())?.[1]}/executions/events`,
  );
  const started = await fetch(`${address}/api/v1/workflows/1/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: '{"input_data":{"name":"Ada"}}',
  });
  expect(started.status).toBe(202);
  expect(await streamed).toMatch(/^(event|data|id|:|retry)/);

  await page.evaluate(() => Object.assign(globalThis, { isStill: true }));
  await appendFile(
    join(copy, 'packages/ui/src/components/global.css'),
    'body { outline: 3px solid rgb(1, 2, 3) }\n',
  );
  const outline = () => page.evaluate(() => getComputedStyle(document.body).outlineColor);
  await expect.poll(outline, { timeout: 240_000 }).toBe('rgb(1, 2, 3)');
  expect(await page.evaluate(() => 'isStill' in globalThis)).toBe(true);

  await appendFile(join(copy, 'packages/cli/src/commands/program.ts'), "console.log('changed');\n");
  await expect.poll(output, { timeout: 240_000 }).toMatch(/Restarting.*^changed$/ms);
  // Held back until the service accepts requests again.
  expect((await fetch(`${address}/readyz`)).status).toBe(200);
  expect(output().match(/^Millrace is ready: /gm)).toHaveLength(1);
  expect(complaints).toEqual([]);

  expect(await interrupt()).toBe(0);
  expect(await findPostmaster(clusterFolder(join(copy, 'data')))).toBeNull();
  await expect(fetch(address)).rejects.toThrow();
});

interface Development {
  /** Everything printed so far. */
  readonly output: () => string;
  readonly address: string;
  /** Ctrl-C. @returns the exit code */
  readonly interrupt: () => Promise<number>;
}

async function startDevelopment(): Promise<Development> {
  const child = spawn(process.execPath, ['tools/dev.ts'], {
    cwd: copy,
    env: { PATH: process.env.PATH, PORT: '0', MILLRACE_DATA_DIR: join(copy, 'data') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  async function interrupt(): Promise<number> {
    child.kill('SIGINT');
    const [code] = await ended;
    return code as number;
  }
  cleanUps.push(async () => child.exitCode ?? (await interrupt()));
  await expect.poll(() => output, { timeout: 240_000 }).toContain('Press Ctrl-C to stop.');
  const address = /^Millrace is ready: (\S+)$/m.exec(output)?.[1] ?? '';
  return { output: () => output, address, interrupt };
}

/** A copy of the sources to edit, using this project's dependencies. */
async function copyProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-development-'));
  await chmod(folder, 0o755);
  for (const name of ['packages', 'tools', 'examples', 'package.json', 'tsconfig.json'])
    await cp(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: (path) => !/\/(dist|node_modules|test|e2e)$/.test(path),
    });
  await linkDependencies('node_modules', folder);
  for (const name of await readdir(join(ROOT, 'packages')))
    await linkDependencies(join('packages', name, 'node_modules'), folder);
  return folder;
}

/** Symlinks each dependency; the project's own packages point into the copy. */
async function linkDependencies(modules: string, folder: string): Promise<void> {
  const names = await readdir(join(ROOT, modules)).catch(() => []);
  if (names.length > 0) await mkdir(join(folder, modules), { recursive: true });
  for (const name of names) {
    if (name === '@millrace') {
      await mkdir(join(folder, modules, name));
      for (const own of await readdir(join(ROOT, modules, name)))
        await symlink(await readlink(join(ROOT, modules, name, own)), join(folder, modules, name, own));
    } else if (!name.startsWith('.')) {
      await symlink(join(ROOT, modules, name), join(folder, modules, name));
    }
  }
}
