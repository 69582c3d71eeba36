import { success } from '@millrace/engine';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chainOf } from '../../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';

interface SentEvent {
  readonly event: string;
  readonly id: string | null;
  readonly data: { readonly node_id?: string; readonly status: string };
}

let service: WorkingService;
beforeAll(async () => {
  service = await startWorkingService();
});
afterAll(() => service.stop());

/** Opens the stream; yields events one at a time until it ends. */
async function openStream(id: number, lastEventId?: string, abort = new AbortController()) {
  const response = await fetch(`${service.url}/api/v1/executions/${id}/events`, {
    headers: {
      authorization: `Bearer ${service.key.text}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal: abort.signal,
  });
  return { response, abort, events: readEvents(response) };
}

async function* readEvents(response: Response): AsyncGenerator<SentEvent> {
  let text = '';
  for await (const chunk of (response.body ?? new Response('').body)?.pipeThrough(new TextDecoderStream()) ??
    []) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? null;
      const data = field('data');
      if (data !== null) yield { event: field('event') ?? '', id: field('id'), data: JSON.parse(data) };
    }
  }
}

const all = async (events: AsyncGenerator<SentEvent>) => Array.fromAsync(events);
const summary = ({ event, data }: SentEvent) => `${event} ${data.node_id ?? ''} ${data.status}`;

function gate(name: string) {
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  service.behaviours.set(name, async () => {
    entered.resolve();
    await release.promise;
    return success({ of: name });
  });
  return { entered: entered.promise, release: release.resolve };
}

test('200: the current state, every change of a node, the end; then the stream closes', async () => {
  const [one, two] = [gate('one'), gate('two')];
  const id = await service.execute(await service.createWorkflow(chainOf('one', 'two')));
  await one.entered;
  const { response, events } = await openStream(id);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(response.headers.get('cache-control')).toContain('no-store');
  const seen: SentEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    const what = summary(event);
    if (what === 'node one running') one.release();
    if (what === 'node two running') two.release();
  }
  const lines = seen.map(summary);
  expect(lines[0]).toBe('execution  running');
  expect(lines.at(-1)).toBe('execution  completed');
  expect(lines.filter((line) => line.startsWith('execution'))).toHaveLength(2);
  expect(lines.indexOf('node one running')).toBeLessThan(lines.indexOf('node one success'));
  expect(lines.indexOf('node one success')).toBeLessThan(lines.indexOf('node two success'));
  const ids = seen.flatMap((event) => (event.id === null ? [] : [Number(event.id)]));
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  expect(new Set(ids).size).toBe(ids.length);
});

test('200: Last-Event-ID resumes after the last event seen', async () => {
  const two = gate('second');
  const id = await service.execute(await service.createWorkflow(chainOf('plain', 'second')));
  await two.entered;
  const first = await openStream(id);
  let lastSeen = '';
  for await (const event of first.events) {
    if (event.id !== null) lastSeen = event.id;
    if (summary(event) === 'node second running') break;
  }
  first.abort.abort();
  two.release();
  const rest = (await all((await openStream(id, lastSeen)).events)).map(summary);
  expect(rest).toContain('node second success');
  expect(rest.at(-1)).toBe('execution  completed');
  expect(rest.filter((line) => line.includes('plain') || line.includes('running'))).toEqual(
    rest.filter((line) => line === 'execution  running'),
  );
});

test('200: a finished execution is sent at once; 204 after its last event', async () => {
  const id = await service.execute(await service.createWorkflow(RUNNABLE_FLOW));
  await service.finished(id);
  const events = await all((await openStream(id)).events);
  expect(events.map(summary)).toEqual(['node start success', 'node set success', 'execution  completed']);
  const { response } = await openStream(id, events.at(-1)?.id ?? '');
  expect(response.status).toBe(204);
});

test('200: read after the end, a node that succeeded is not reported as cancelled in between', async () => {
  const id = await service.execute(await service.createWorkflow(chainOf('effect', 'another')));
  await service.finished(id);
  const lines = (await all((await openStream(id)).events)).map(summary);
  expect(lines).toContain('node effect running');
  expect(lines).toContain('node effect success');
  expect(lines.filter((line) => line.endsWith('cancelled'))).toEqual([]);
});

test('200: read after a cancel, the node it stopped is reported as cancelled', async () => {
  const held = gate('stopped');
  const id = await service.execute(await service.createWorkflow(chainOf('stopped')));
  await held.entered;
  await service.api('POST', `/executions/${id}/cancel`, { key: service.key });
  held.release();
  const lines = (await all((await openStream(id)).events)).map(summary);
  expect(lines.filter((line) => line.startsWith('node stopped')).at(-1)).toBe('node stopped cancelled');
});

test('200: a cancel ends the stream', async () => {
  const held = gate('held');
  const id = await service.execute(await service.createWorkflow(chainOf('held')));
  await held.entered;
  const { events } = await openStream(id);
  expect(summary((await events.next()).value)).toBe('execution  running');
  await service.api('POST', `/executions/${id}/cancel`, { key: service.key });
  expect((await all(events)).map(summary).at(-1)).toBe('execution  cancelled');
});

test('a client that disconnects is forgotten', async () => {
  const { notifier } = service.deps;
  const subscribe = notifier.subscribe.bind(notifier);
  let open = 0;
  notifier.subscribe = (executionId, listener) => {
    const end = subscribe(executionId, listener);
    open += 1;
    return () => {
      open -= 1;
      end();
    };
  };
  const held = gate('gone');
  const id = await service.execute(await service.createWorkflow(chainOf('gone')));
  await held.entered;
  const stream = await openStream(id);
  await stream.events.next();
  expect(open).toBe(1);
  stream.abort.abort();
  await expect.poll(() => open).toBe(0);
  notifier.subscribe = subscribe;
  held.release();
  await service.finished(id);
});

test('406: the stream is not JSON', async () => {
  const response = await fetch(`${service.url}/api/v1/executions/1/events`, {
    headers: { authorization: `Bearer ${service.key.text}`, accept: 'application/json' },
  });
  expect(response.status).toBe(406);
});
