import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { clusterFolder } from '@millrace/database/embedded/cluster';
import { findEmbeddedUrls } from '@millrace/database/embedded/embedded';
import { findPostmaster, stopPostmaster } from '@millrace/database/embedded/postmaster';
import { createDatabase } from '@millrace/database/pool';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { builtCommand } from '../built-command.ts';
import { Client, chain, post } from './support/client.ts';
import { freshFolder, sweepAbandoned } from './support/folders.ts';
import { finished, timesRecorded } from './support/ledger.ts';
import { Receiver } from './support/receiver.ts';
import { ServiceProcess } from './support/service-process.ts';
import { giveTime } from './support/use-world.ts';

giveTime();
let receiver: Receiver;
let dataDir: string;
const services: ServiceProcess[] = [];
beforeAll(async () => {
  await sweepAbandoned();
  receiver = await Receiver.start();
  dataDir = freshFolder('data');
});
afterEach(() => Promise.all(services.splice(0).map((service) => service.end())));
afterAll(async () => {
  await receiver.stop();
  const postmaster = await findPostmaster(clusterFolder(dataDir));
  if (postmaster !== null) await stopPostmaster(postmaster);
  await rm(join(dataDir, '..'), { recursive: true, force: true });
});

async function spawnStart(): Promise<ServiceProcess> {
  const service = await ServiceProcess.spawn('start', { MILLRACE_DATA_DIR: dataDir });
  services.push(service);
  return service;
}

/** Runs a command line as the operator does. */
async function millrace<T>(...words: string[]): Promise<T> {
  const environment = { PATH: process.env.PATH, MILLRACE_DATA_DIR: dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [await builtCommand(), ...words, '--json'], {
    env: environment,
  });
  return JSON.parse(stdout) as T;
}

describe('SIGKILL of millrace start with its own PostgreSQL', () => {
  it('the next start adopts the remaining server, continues the executions, and stops cleanly', async () => {
    onTestFailed(() => {
      for (const { command, output } of services)
        process.stderr.write(`--- millrace ${command}\n${output}\n`);
    });
    const first = await (await spawnStart()).ready();
    await millrace('orgs', 'create', '--name', 'Acme');
    const scopes = 'workflows:read,workflows:write,executions:execute,executions:read';
    const { key } = await millrace<{ key: string }>(
      'keys',
      'create',
      '--org',
      'Acme',
      '--name',
      'fault test',
      '--scopes',
      scopes,
    );
    const client = new Client(first.url, key);
    const flow = chain(post('first', receiver.url('/first')), post('second', receiver.url('/second')));
    const workflow = await client.createWorkflow('survivor', flow);
    receiver.hold('/first');
    const id = await client.accept(workflow, 'm', 'a-key');
    await receiver.arrival('/first', 1);
    const server = await findPostmaster(clusterFolder(dataDir));

    const rival = await spawnStart();
    const { code } = await rival.ended();
    expect(code).not.toBe(0);
    expect(rival.output).toContain(String(first.pid));

    await first.end('SIGKILL');
    expect((await findPostmaster(clusterFolder(dataDir)))?.pid).toBe(server?.pid);
    const second = await (await spawnStart()).ready();
    expect((await findPostmaster(clusterFolder(dataDir)))?.pid).toBe(server?.pid);
    client.url = second.url;
    expect(await client.accept(workflow, 'm', 'a-key')).toBe(id);

    const urls = await findEmbeddedUrls(dataDir);
    const db = createDatabase(urls?.url ?? '', { lanes: 1 });
    try {
      expect(await finished(db, id)).toMatchObject({ status: 'completed', crashed_attempts: 1 });
      expect(await timesRecorded(db, id, 'first')).toBe(1);
    } finally {
      await db.close();
    }
    expect(receiver.to('/first').map((request) => request.deliveryKey)).toEqual(
      Array.from({ length: 2 }, () => receiver.to('/first')[0]?.deliveryKey),
    );
    expect(receiver.to('/second')).toHaveLength(1);

    expect(await second.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(await findPostmaster(clusterFolder(dataDir))).toBeNull();
  });
});
