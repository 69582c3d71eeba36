import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Role } from '@millrace/admin-api';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { WEBHOOK_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorkflow } from './workflows-world.ts';

/** An open stream must not continue for someone who has lost access to it. */
let service: TestService;
let admin: TestPerson;
let workflowId: number;
let executionId: number;
beforeAll(async () => {
  // Nothing runs, so the execution stays queued and its stream open.
  service = await startTestService({ runsWorker: false, deps: { streamCheckMs: 100 } });
  admin = await createPerson(service, 'org_admin');
  workflowId = (await createWorkflow(admin, WEBHOOK_FLOW as never)).id;
  const { data } = await admin.call('POST /orgs/:org/workflows/:id/run', {
    params: { org: admin.organisationId, id: workflowId },
    body: {},
  });
  executionId = data.execution_id;
});
afterAll(() => service.stop());

const STREAMS = {
  list: () => 'executions/events',
  execution: () => `executions/${executionId}/events`,
  listener: () => `workflows/${workflowId}/sample-listener/events?after=0`,
};

interface Stream {
  readonly status: number;
  /** Resolves when no more data can arrive. */
  readonly end: Promise<unknown>;
}

function open({ cookie, organisationId }: TestPerson, path: string): Promise<Stream> {
  const address = `${service.url}/api/admin/orgs/${organisationId}/${path}`;
  return listen(address, { cookie, 'sec-fetch-site': 'same-origin' });
}

async function listen(address: string, headers: { readonly [name: string]: string }): Promise<Stream> {
  const [response] = (await once(get(address, { agent: false, headers }), 'response')) as [IncomingMessage];
  const end = new Promise((resolve) => response.once('close', resolve));
  response.on('error', () => {}).resume();
  return { status: response.statusCode ?? 0, end };
}

/** The stream of the public API. */
async function openByKey(key: TestKey): Promise<Stream> {
  const address = `${service.url}/api/v1/executions/${executionId}/events`;
  return listen(address, { authorization: `Bearer ${key.text}` });
}

async function join(role: Role): Promise<TestPerson> {
  const person = await createPerson(service, role, { organisationId: admin.organisationId });
  if (role !== 'viewer') {
    const params = { org: admin.organisationId, id: workflowId };
    await person.call('POST /orgs/:org/workflows/:id/sample-listener', { params });
  }
  return person;
}

const memberOf = ({ memberId }: TestPerson) => ({ org: admin.organisationId, member: memberId });

const ENDINGS: Readonly<Record<string, (person: TestPerson) => Promise<{ readonly status: number }>>> = {
  'the session was ended': (person) => person.call('POST /sign-out'),
  'the membership has ended': (person) =>
    admin.call('DELETE /orgs/:org/members/:member', { params: memberOf(person) }),
};

describe.concurrent.each(Object.entries(ENDINGS))('when %s', (_what, endFor) => {
  test.each(Object.entries(STREAMS))('the stream of the %s ends', async (_stream, path) => {
    const person = await join('editor');
    const stream = await open(person, path());
    expect(stream.status).toBe(200);
    expect((await endFor(person)).status).toBe(204);
    await stream.end;
    expect((await open(person, path())).status).toBeGreaterThanOrEqual(401);
  });
});

test.concurrent('a lower role ends the streams it may not see, and no others', async () => {
  const person = await join('editor');
  const [listener, list] = [await open(person, STREAMS.listener()), await open(person, STREAMS.list())];
  let hasListEnded = false;
  void list.end.then(() => {
    hasListEnded = true;
  });
  await admin.call('PATCH /orgs/:org/members/:member', {
    params: memberOf(person),
    body: { role: 'viewer' },
  });
  await listener.end;
  expect(hasListEnded).toBe(false);
  expect((await open(person, STREAMS.listener())).status).toBe(403);
});

test.concurrent("an open stream doesn't count as use of the session, which ends when idle for too long", async () => {
  const person = await join('viewer');
  const stream = await open(person, STREAMS.list());
  await service.database.db.query(
    `UPDATE sessions SET last_seen_at = now() - interval '30 days', expires_at = now() + interval '1 day'
     WHERE user_id = $1`,
    [person.userId],
  );
  await stream.end;
});

const query = (text: string, values: readonly unknown[]) => service.database.db.query(text, values);

const KEY_ENDINGS: Readonly<Record<string, (key: TestKey, issuer: TestPerson) => Promise<unknown>>> = {
  'is revoked': (key) =>
    admin.call('POST /orgs/:org/keys/:key/revoke', { params: { org: admin.organisationId, key: key.id } }),
  'is locked': (key) => query('UPDATE api_keys SET locked_at = now() WHERE id = $1', [key.id]),
  expires: (key) => query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [key.id]),
  'loses its member': (_key, issuer) =>
    admin.call('DELETE /orgs/:org/members/:member', { params: memberOf(issuer) }),
  'is gone': (key) => query('DELETE FROM api_keys WHERE id = $1', [key.id]),
};

describe.concurrent('a stream of the public API ends when its key', () => {
  test.each(Object.entries(KEY_ENDINGS))('%s', async (_what, endFor) => {
    const issuer = await join('viewer');
    const { organisationId } = admin;
    const [key, other] = [
      await service.createKey({ organisationId, issuedBy: issuer.memberId }),
      await service.createKey({ organisationId }),
    ];
    const [stream, untouched] = [await openByKey(key), await openByKey(other)];
    expect([stream.status, untouched.status]).toEqual([200, 200]);
    let hasOtherEnded = false;
    void untouched.end.then(() => {
      hasOtherEnded = true;
    });
    await endFor(key, issuer);
    await stream.end;
    expect(hasOtherEnded).toBe(false);
    expect((await openByKey(key)).status).toBeGreaterThanOrEqual(401);
  });
});

test.concurrent('rechecking a key counts neither as a use nor as a violation', async () => {
  const issuer = await join('editor');
  const key = await service.createKey({ organisationId: admin.organisationId, issuedBy: issuer.memberId });
  const stream = await openByKey(key);
  await query(
    `UPDATE api_keys SET last_used_at = now() - interval '1 day', locked_at = now(), consecutive_failures = 3 WHERE id = $1`,
    [key.id],
  );
  await stream.end;
  expect(
    await query(
      `SELECT consecutive_failures, last_used_at < now() - interval '1 hour' AS is_old FROM api_keys WHERE id = $1`,
      [key.id],
    ),
  ).toEqual([{ consecutive_failures: 3, is_old: true }]);
  expect(
    await query(`SELECT FROM audit_log WHERE action = 'api_key.scope_violation' AND api_key_id = $1`, [
      key.id,
    ]),
  ).toEqual([]);
});

test.concurrent('a download breaks off when the session is ended', async () => {
  const person = await createPerson(service, 'org_admin');
  await query(
    `INSERT INTO audit_log (organisation_id, action, actor, details)
     SELECT $1, 'workflow.many', 'service', json_build_object('text', repeat('x', 2000)) FROM generate_series(1, 10000)`,
    [person.organisationId],
  );
  const address = `${service.url}/api/admin/orgs/${person.organisationId}/audit/jsonl`;
  const headers = { cookie: person.cookie, 'sec-fetch-site': 'same-origin' };
  const accepted = new Set<Socket>();
  const accept = (socket: Socket) => void accepted.add(socket);
  service.app.server.on('connection', accept);
  const [response] = (await once(get(address, { agent: false, headers }), 'response')) as [IncomingMessage];
  service.app.server.off('connection', accept);
  expect(response.statusCode).toBe(200);
  // The reader takes nothing more until the service has given up; the rest doesn't fit into the buffers in between.
  const served = [...accepted].find(({ remotePort }) => remotePort === response.socket.localPort);
  if (served === undefined) throw new Error('the service did not accept this connection');
  const end = once(served, 'close');
  await person.call('POST /sign-out');
  await end;
  const failure = new Promise((resolve) => response.once('error', resolve));
  response.resume();
  expect(await failure).toMatchObject({ message: 'aborted' });
  expect(response.complete).toBe(false);
});
