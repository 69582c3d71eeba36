import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Queryable } from '@millrace/database/database';
import { createGuardedHttpClient, type GuardedHttpClient } from '@millrace/egress/guarded-client';
import { createGuardedFetch } from '@millrace/egress/guarded-fetch';
import { createGuardedSockets } from '@millrace/egress/guarded-socket';
import { createOrganisationOutbound } from '@millrace/egress/of-organisation';
import { HttpClientError, type HttpRequest } from '@millrace/engine';
import { createAllowedHostsReader } from '@millrace/service/settings/allowed-hosts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { send } from '@millrace/testing/api';
import { type Outside, openOutside } from '@millrace/testing/outside';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
let outside: Outside;
let elsewhere: Server;
let client: GuardedHttpClient;
let port: number;
beforeAll(async () => {
  // `localhost` and `127.0.0.1` are two hosts at the same address.
  const allowHosts = ['127.0.0.1', 'localhost'];
  service = await startTestService({ config: { allowHosts } });
  outside = await openOutside();
  outside.on('GET /*', {});
  elsewhere = createServer((_request, response) => response.end('elsewhere'));
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  client = createGuardedHttpClient({ allowHosts });
  port = Number(new URL(outside.url).port);
});
afterAll(async () => {
  await service.stop();
  await outside.close();
  await client.close();
  await new Promise((resolve) => elsewhere.close(resolve));
});

const signal = new AbortController().signal;
const request = (url: string, maxRedirects = 0): HttpRequest => ({
  method: 'GET',
  url,
  timeoutMs: 5_000,
  maxRedirects,
  maxResponseBytes: 10_000,
});

async function allow(hosts: readonly string[] | null): Promise<TestPerson> {
  const admin = await createPerson(service, 'org_admin');
  const body = { allowed_hosts: hosts === null ? null : [...hosts] };
  const params = { org: admin.organisationId };
  expect((await admin.call('PATCH /orgs/:org/settings', { params, body })).status).toBe(200);
  return admin;
}

const ways = () =>
  createOrganisationOutbound(createAllowedHostsReader(service.database.db), service.deps.egress.hosts);

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof HttpClientError ? error.code : 'none';
}

describe('HTTP', () => {
  const get = async (hosts: readonly string[] | null, url: string, redirects = 0) => {
    const { organisationId } = await allow(hosts);
    return refusal(ways().http(organisationId, client).send(request(url, redirects), signal));
  };

  test('without a list, everything that the service allows may be called', async () => {
    expect(await get(null, `${outside.url}/a`)).toBe('none');
  });

  test.each<[string[], string]>([
    [['127.0.0.1'], 'none'],
    [['127.0.0.0/8'], 'none'],
    [['127.0.0.1:PORT'], 'none'],
    [['127.0.0.1:1'], 'target_not_allowed'],
    [['localhost'], 'target_not_allowed'],
    [['api.example.com'], 'target_not_allowed'],
    [[], 'target_not_allowed'],
  ])('%j: %s', async (hosts, expected) => {
    const own = hosts.map((host) => host.replace('PORT', String(port)));
    expect(await get(own, `${outside.url}/a`)).toBe(expected);
  });

  test('a list opens nothing that the service blocks', async () => {
    expect(await get(['10.0.0.1', '*.internal'], 'http://10.0.0.1/')).toBe('target_not_allowed');
  });

  test('a redirect leads to no host outside the list', async () => {
    const { port: other } = elsewhere.address() as AddressInfo;
    outside.on('GET /away', { status: 302, headers: { location: `http://localhost:${other}/` } });
    expect(await get(['127.0.0.1'], `${outside.url}/away`, 3)).toBe('target_not_allowed');
    expect(await get(['127.0.0.1', 'localhost'], `${outside.url}/away`, 3)).toBe('none');
  });

  test('an open connection of another organisation is no way around it', async () => {
    expect(await get(null, `${outside.url}/a`)).toBe('none');
    expect(await get(['api.example.com'], `${outside.url}/a`)).toBe('target_not_allowed');
  });

  test('a change takes effect at once', async () => {
    const admin = await allow(['api.example.com']);
    const http = ways().http(admin.organisationId, client);
    expect(await refusal(http.send(request(`${outside.url}/a`), signal))).toBe('target_not_allowed');
    await admin.call('PATCH /orgs/:org/settings', {
      params: { org: admin.organisationId },
      body: { allowed_hosts: ['127.0.0.1'] },
    });
    expect(await refusal(http.send(request(`${outside.url}/a`), signal))).toBe('none');
  });
});

test('concurrent calls share a statement, and none uses a result from before it arrived', async () => {
  const { organisationId, call } = await allow(['api.example.com']);
  const other = await allow(['127.0.0.1']);
  const { db } = service.database;
  let statements = 0;
  const counted: Queryable = {
    query: (...given) => {
      statements += 1;
      return db.query(...given);
    },
  };
  const outbound = createOrganisationOutbound(createAllowedHostsReader(counted), service.deps.egress.hosts);
  const send = (org: number) => refusal(outbound.http(org, client).send(request(`${outside.url}/a`), signal));
  const pairs = Array.from({ length: 50 }, () => [send(organisationId), send(other.organisationId)]);
  const answers = await Promise.all(pairs.flat());
  expect(new Set(answers.filter((_, index) => index % 2 === 0))).toEqual(new Set(['target_not_allowed']));
  expect(new Set(answers.filter((_, index) => index % 2 === 1))).toEqual(new Set(['none']));
  expect(statements).toBe(1);

  // One is in progress when the list is opened: requests sent later must not share its response.
  const early = send(organisationId);
  const body = { allowed_hosts: ['127.0.0.1'] };
  await call('PATCH /orgs/:org/settings', { params: { org: organisationId }, body });
  expect(await send(organisationId)).toBe('none');
  expect(['none', 'target_not_allowed']).toContain(await early);
});

test('model calls and connections for mail and SQL are limited to the list', async () => {
  const { organisationId } = await allow(['localhost']);
  const sockets = ways().sockets(
    organisationId,
    createGuardedSockets({ allowHosts: ['127.0.0.1', '::1', 'localhost'] }),
  );
  expect(await refusal(sockets.connect({ host: '127.0.0.1', port }, signal))).toBe('target_not_allowed');
  expect(await refusal(sockets.connect({ host: '::1', port }, signal))).toBe('target_not_allowed');
  expect(
    await refusal(sockets.connect({ host: 'LOCALHOST.', port }, signal).then((socket) => socket.destroy())),
  ).toBe('none');
  const guarded = createGuardedFetch({ allowHosts: ['127.0.0.1', 'localhost'] });
  const { fetch: go } = ways().fetch(organisationId, guarded);
  expect(await refusal(go(`${outside.url}/a`, {}, 1_000))).toBe('target_not_allowed');
  expect(await refusal(go(`http://localhost:${port}/a`, {}, 1_000).then((answer) => answer.text()))).toBe(
    'none',
  );
  await guarded.close();
});

test('a node of an execution is refused, with who can change it', async () => {
  const admin = await allow(['api.example.com']);
  const key = await service.createKey({ organisationId: admin.organisationId });
  const { data } = await admin.call('POST /orgs/:org/workflows', {
    params: { org: admin.organisationId },
    body: {
      name: 'calls out',
      flow_data: {
        nodes: [
          { id: 'start', type: 'trigger.manual', data: {} },
          {
            id: 'call',
            type: 'http.request',
            data: { config: { method: 'GET', url: `${outside.url}/never` } },
          },
        ],
        edges: [{ source: 'start', target: 'call' }],
      },
    },
  });
  const headers = { authorization: `Bearer ${key.text}` };
  const started = await send(`${service.url}/api/v1/workflows/${data.workflow.id}/execute`, 'POST', {
    headers,
    body: {},
  });
  const { json } = await send(
    `${service.url}/api/v1/executions/${started.json.execution_id}?wait=30`,
    'GET',
    { headers },
  );
  expect(json).toMatchObject({ status: 'failed', error: { code: 'target_not_allowed' } });
  expect(JSON.stringify(json.error)).toContain('organisation admin');
  expect(outside.to('GET /never')).toEqual([]);
});
