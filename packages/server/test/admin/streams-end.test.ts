import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { Role } from '@millrace/admin-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPerson, type TestPerson } from '../support/admin.ts';
import { WEBHOOK_FLOW } from '../support/flows.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createWorkflow } from './workflows-world.ts';

/** A stream that was opened once must not go on for who may not open it any more. */
let service: TestService;
let admin: TestPerson;
let workflowId: number;
let executionId: number;
beforeAll(async () => {
  // Nothing runs, so the execution stays queued and its stream open.
  service = await startTestService({ runsWorker: false });
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
  /** Resolves when nothing more can come. */
  readonly end: Promise<unknown>;
}

async function open({ cookie, organisationId }: TestPerson, path: string): Promise<Stream> {
  const address = `${service.url}/api/admin/orgs/${organisationId}/${path}`;
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  const [response] = (await once(get(address, { agent: false, headers }), 'response')) as [IncomingMessage];
  const end = new Promise((resolve) => response.once('close', resolve));
  response.on('error', () => {}).resume();
  return { status: response.statusCode ?? 0, end };
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

test.concurrent('a lower role ends what it may not see, and nothing else', async () => {
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

test.concurrent('an open stream is no use of the session: it ends when the session was idle for too long', async () => {
  const person = await join('viewer');
  const stream = await open(person, STREAMS.list());
  await service.database.db.query(
    `UPDATE sessions SET last_seen_at = now() - interval '30 days', expires_at = now() + interval '1 day'
     WHERE user_id = $1`,
    [person.userId],
  );
  await stream.end;
});
