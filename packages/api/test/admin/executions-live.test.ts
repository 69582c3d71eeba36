import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { ADMIN_API, type Endpoint } from '@millrace/admin-api';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { checkAnswer } from '@millrace/testing/admin-answers';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, expect, test } from 'vitest';

let service: TestService;
let viewer: TestPerson;
let key: TestKey;
let workflowId: number;
beforeAll(async () => {
  service = await startTestService();
  viewer = await createPerson(service, 'viewer');
  key = await service.createKey({ organisationId: viewer.organisationId });
  const body = { name: 'orders', flow_data: RUNNABLE_FLOW, status: 'active' };
  workflowId = (await service.api('POST', '/workflows', { key, body })).json.id;
});
afterAll(() => service.stop());

interface Told {
  readonly event: string;
  readonly data: { readonly items?: readonly { readonly id: number; readonly status: string }[] };
}

const LIST = 'GET /orgs/:org/executions/events';
const ONE = 'GET /orgs/:org/executions/:execution/events';

/** The events of a stream as they arrive. Fails the test if one doesn't match the endpoint's schema. */
async function* follow(
  person: TestPerson,
  name: typeof LIST | typeof ONE,
  execution: number | null,
  stop: AbortSignal,
): AsyncGenerator<Told> {
  const { events }: Endpoint = ADMIN_API[name];
  const path = name
    .slice(4)
    .replace(':org', `${person.organisationId}`)
    .replace(':execution', `${execution}`);
  const address = `${service.url}/api/admin${path}`;
  // On a separate connection: when this one is cut, fetch would open another and leave it unused.
  const request = get(address, {
    agent: false,
    headers: { cookie: person.cookie, 'sec-fetch-site': 'same-origin' },
    signal: stop,
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  expect(response.headers['content-type']).toContain('text/event-stream');
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (event === undefined || data === undefined) continue;
      const schema = events?.[event];
      if (schema === undefined) throw new Error(`${name} has no event ${event}`);
      checkAnswer(`${name} ${event}`, schema, JSON.parse(data));
      yield { event, data: JSON.parse(data) };
    }
  }
}

async function execute(): Promise<number> {
  return (await service.api('POST', `/workflows/${workflowId}/execute`, { key, body: {} })).json.execution_id;
}

test('the list reports starts and ends of its own organisation only', async () => {
  const stop = new AbortController();
  const stranger = await createPerson(service, 'viewer');
  const heardByStranger: Told[] = [];
  const strangerStop = new AbortController();
  const listening = (async () => {
    for await (const told of follow(stranger, LIST, null, strangerStop.signal)) heardByStranger.push(told);
  })().catch(() => {});
  let id = 0;
  for await (const { event, data } of follow(viewer, LIST, null, stop.signal)) {
    // The first event means that the stream is open and earlier changes have to be read.
    if (event === 'missed' && id === 0) id = await execute();
    if (data.items?.some((item) => item.id === id && item.status === 'completed')) break;
  }
  stop.abort();
  strangerStop.abort();
  await listening;
  expect(heardByStranger.filter(({ event }) => event === 'changed')).toEqual([]);
});

test('one execution is followed to its end', async () => {
  const id = await execute();
  const heard: string[] = [];
  for await (const { event, data } of follow(viewer, ONE, id, new AbortController().signal)) {
    heard.push(`${event} ${(data as { status?: string }).status}`);
  }
  expect(heard.at(-1)).toBe('execution completed');
  expect(heard).toContain('node success');
});

test('closing the service ends the streams', async () => {
  const other = await startTestService({ runsWorker: false });
  const person = await createPerson(other, 'viewer');
  const response = await fetch(`${other.url}/api/admin/orgs/${person.organisationId}/executions/events`, {
    headers: { cookie: person.cookie, 'sec-fetch-site': 'same-origin' },
  });
  const ended = response.text();
  await other.stop();
  await ended;
});
