import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { send } from '@millrace/testing/api';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
let key: TestKey;
let viewer: TestPerson;
let stranger: TestPerson;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  key = await service.createKey();
  viewer = await createPerson(service, 'viewer', { organisationId: key.organisationId });
  stranger = await createPerson(service, 'org_admin');
});
afterAll(() => service.stop());

const PAGE = '<!doctype html><script>alert(1)</script>';

async function start(): Promise<number> {
  const created = await service.api('POST', '/workflows', {
    key,
    body: { name: 'w', flow_data: RUNNABLE_FLOW },
  });
  const started = await service.api('POST', `/workflows/${created.json.id}/execute`, { key, body: {} });
  return started.json.execution_id;
}

/** A file that an execution refers to; null: an upload. @returns its id */
async function save(executionId: number | null, name = 'page.html', type = 'text/html', content = PAGE) {
  const file = { organisationId: key.organisationId, executionId, name, type, declaredBytes: null };
  return (await service.deps.files.save(file, Readable.from([Buffer.from(content)]))).$file;
}

const LIST = 'GET /orgs/:org/executions/:execution/files';

const pathOf = (execution: number, file: string, org = key.organisationId) =>
  `${service.url}/api/admin/orgs/${org}/executions/${execution}/files/${file}`;

function download(
  person: TestPerson,
  execution: number,
  file: string,
  headers: { readonly [name: string]: string } = {},
) {
  return send(pathOf(execution, file), 'GET', {
    headers: { 'sec-fetch-site': 'same-origin', cookie: person.cookie, ...headers },
  });
}

describe('a file of an execution', () => {
  test('200: a viewer saves it; no browser runs or shows it', async () => {
    const execution = await start();
    const { status, text, headers } = await download(viewer, execution, await save(execution));
    expect([status, text]).toEqual([200, PAGE]);
    expect(headers.get('content-disposition')).toBe('attachment; filename=page.html');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; frame-ancestors 'none'; sandbox",
    );
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('206: a range of it, whatever the request accepts', async () => {
    const execution = await start();
    const id = await save(execution, 'a.txt', 'text/plain', '0123456789');
    const { status, text, headers } = await download(viewer, execution, id, {
      range: 'bytes=2-4',
      accept: 'image/png',
    });
    expect([status, text, headers.get('content-range')]).toEqual([206, '234', 'bytes 2-4/10']);
    const beyond = await download(viewer, execution, id, { range: 'bytes=10-' });
    expect([beyond.status, beyond.json.code]).toEqual([416, 'range_not_satisfiable']);
  });

  test('404: a file of another execution, an upload, and an unknown file', async () => {
    const [execution, other] = [await start(), await start()];
    for (const id of [await save(other), await save(null), randomUUID(), 'x']) {
      const { status, json } = await download(viewer, execution, id);
      expect([status, json.code]).toEqual([404, 'not_found']);
    }
  });

  test("404: somebody else's organisation, also as one's own", async () => {
    const execution = await start();
    const id = await save(execution);
    const { cookie } = stranger;
    for (const org of [key.organisationId, stranger.organisationId]) {
      const answer = await send(pathOf(execution, id, org), 'GET', {
        headers: { 'sec-fetch-site': 'same-origin', cookie },
      });
      expect([answer.status, answer.json.code]).toEqual([404, 'not_found']);
    }
  });
});

describe('files by their ids', () => {
  test('200: those that the execution refers to, as they are stored', async () => {
    const [execution, other] = [await start(), await start()];
    const own = await save(execution, 'a.txt', 'text/plain', 'abc');
    const ids = [await save(other), own, randomUUID(), await save(null), '-'.repeat(36)].join();
    const params = { org: key.organisationId, execution };
    const { data } = await viewer.call(LIST, { params, query: { ids } });
    expect(data).toEqual({ items: [{ id: own, name: 'a.txt', type: 'text/plain', size: 3 }] });
  });

  test('404: an unknown execution; 422: too many ids, and invalid ones', async () => {
    const org = key.organisationId;
    const query = { ids: randomUUID() };
    expect((await viewer.call(LIST, { params: { org, execution: 4_000_000 }, query })).status).toBe(404);
    const params = { org, execution: await start() };
    for (const ids of ['', 'x', Array.from({ length: 51 }, () => randomUUID()).join()]) {
      expect((await viewer.call(LIST, { params, query: { ids } })).status).toBe(422);
    }
  });
});
