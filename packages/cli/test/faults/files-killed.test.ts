import { readdir, stat } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { createOwnedStore } from '@millrace/files/folder-owner';
import { readInstallationId } from '@millrace/files/owned-store';
import { sweepFiles } from '@millrace/files/sweep';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshFolder } from './support/folders.ts';
import { PgProxy } from './support/pg-proxy.ts';
import type { ServiceProcess } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const folder = freshFolder('files');
const world = useWorld({ MILLRACE_FILES_FOLDER: folder });
let proxy: PgProxy;
beforeEach(async () => {
  proxy = await PgProxy.start(world().cluster.socketPath);
});
afterEach(() => proxy.stop());

/** Begins an upload, of which more is to come. */
function beginUpload(api: ServiceProcess): ClientRequest {
  const headers = { authorization: `Bearer ${world().apiKey}`, 'content-type': 'text/plain' };
  const upload = request(`${api.url}/api/v1/files?name=a.txt`, { method: 'POST', headers });
  // Its server is killed.
  upload.on('error', () => {});
  upload.write('the first half, ');
  return upload;
}

const readFromApi = (api: ServiceProcess, id: string) =>
  fetch(`${api.url}/api/v1/files/${id}`, { headers: { authorization: `Bearer ${world().apiKey}` } });

/** Names of what lies in the store. */
async function stored(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile() && entry.name !== 'installation').map(({ name }) => name);
}

const states = () => world().db.query<{ id: string; state: string }>('SELECT id, state FROM files');

/** What a worker does once everything that waits for its time is due. */
async function sweepLater(): Promise<void> {
  const { db } = world();
  await db.query('UPDATE files SET sweep_at = now() WHERE sweep_at IS NOT NULL');
  const store = createOwnedStore(folder, () => readInstallationId(db));
  await sweepFiles({ db, store, log: pino({ level: 'silent' }) });
}

describe('SIGKILL of an API', () => {
  it('between the last byte of an upload and its row: nobody sees the file, and its bytes are deleted', async () => {
    const victim = await world().spawn('api', { DATABASE_URL: proxy.through(world().cluster.url) });
    const upload = beginUpload(await victim.ready());
    const partial = await until('the first bytes', async () => {
      const [name] = await stored();
      if (name === undefined) return null;
      return (await stat(join(folder, name.slice(0, 2), name))).size > 0 ? name : null;
    });
    const [row] = await states();
    const id = row?.id ?? '';
    expect([partial, row?.state]).toEqual([`${id}.part`, 'writing']);

    // The row can't be written any more, so there is no hurry to kill it in time.
    proxy.swallowEverything();
    upload.end('and the second');
    await until('all bytes', async () => (await stored()).includes(id));
    await victim.end('SIGKILL');
    expect(await states()).toEqual([{ id, state: 'writing' }]);

    const api = await world().api();
    expect((await readFromApi(api, id)).status).toBe(404);
    await sweepLater();
    expect(await stored()).toEqual([]);
    // Once more a day later: it might only have been stopped.
    expect(await states()).toEqual([{ id, state: 'deleting' }]);
    await sweepLater();
    expect(await states()).toEqual([]);
    const usage = await world().db.query(
      'SELECT files, bytes FROM file_usage WHERE files <> 0 OR bytes <> 0',
    );
    expect(usage).toEqual([]);
  });
});
