import { randomBytes } from 'node:crypto';
import { addCredential } from '@millrace/credentials/credentials';
import { createSecretKeys } from '@millrace/secrets/keys';
import { holdLocks } from '@millrace/testing/hold-locks';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/settings/config.ts';
import type { Flow } from './support/client.ts';
import type { Reaction } from './support/receiver.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const KEY = { MILLRACE_SECRET_KEY: randomBytes(32).toString('base64') };
const world = useWorld(KEY);

it('SIGKILL of workers between a message and its acknowledgement: every message starts one execution, and none is missing', async () => {
  const { db, receiver } = world();
  const queue = new Queue();
  // All requests go to the root of the queue's host.
  receiver.on('/', ({ headers, body }) => queue.answer(String(headers['x-amz-target']), body));
  const client = world().client(await world().api());
  const workflow = await client.createWorkflow(
    'listens',
    receiving(receiver.url('/123456789012/orders'), await addKeys()),
  );
  expect((await client.put(`/workflows/${workflow}`, { status: 'active' })).status).toBe(200);
  /** As if the lease of the dead worker, and the visibility timeout, had ended. */
  const goOn = async () => {
    queue.received.clear();
    await db.query(
      `UPDATE polls SET leased_until = NULL WHERE workflow_id = $1 RETURNING pg_notify('millrace_schedules', '')`,
      [workflow],
    );
  };
  const started = async () => {
    const rows = await db.query<{ id: string }>(
      `SELECT input->>'text' AS id FROM executions WHERE workflow_id = $1 ORDER BY id`,
      [workflow],
    );
    return rows.map(({ id }) => id);
  };

  let worker = await world().worker();
  await until('a connection', () => queue.asked > 0);
  // Between the message and the start.
  await holdLocks(db, async (tx) => {
    await tx.query('SELECT FROM polls WHERE workflow_id = $1 FOR SHARE', [workflow]);
    queue.messages.push('a', 'b');
    await until('a start that waits to be stored', async () => {
      const rows = await db.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'SELECT FROM polls%FOR UPDATE'`,
      );
      return rows.length > 0;
    });
    await worker.end('SIGKILL');
  });
  expect(await started()).toEqual([]);
  worker = await world().worker();
  await goOn();
  await until('both starts', async () => (await started()).length === 2 && queue.messages.length === 0);

  // Between the start and the acknowledgement.
  const { promise: isDeleting, resolve: deletes } = Promise.withResolvers<void>();
  queue.beforeDelete = () => {
    deletes();
    return new Promise(() => undefined);
  };
  queue.messages.push('c');
  await isDeleting;
  expect(await started()).toEqual(['a', 'b', 'c']);
  await worker.end('SIGKILL');
  queue.beforeDelete = async () => undefined;
  await world().worker();
  await goOn();
  await until('the acknowledgement', () => queue.messages.length === 0);
  queue.messages.push('d');
  await until('the next start', async () => (await started()).length >= 4);
  expect(await started()).toEqual(['a', 'b', 'c', 'd']);
  expect((await client.archive(workflow)).status).toBe(200);
});

/** A queue with the interface of Amazon SQS that never waits. */
class Queue {
  readonly messages: string[] = [];
  /** Those that are under way to a receiver. */
  readonly received = new Set<string>();
  asked = 0;
  beforeDelete: () => Promise<void> = async () => undefined;

  async answer(target: string, body: unknown): Promise<Reaction> {
    if (target.endsWith('.ReceiveMessage')) {
      this.asked += 1;
      const Messages = this.messages
        .filter((each) => !this.received.has(each))
        .map((each) => ({ MessageId: each, ReceiptHandle: each, Body: each }));
      for (const { MessageId } of Messages) this.received.add(MessageId);
      return json({ Messages });
    }
    if (target.endsWith('.DeleteMessageBatch')) {
      await this.beforeDelete();
      const { Entries } = body as { readonly Entries: readonly { readonly ReceiptHandle: string }[] };
      for (const { ReceiptHandle } of Entries) this.messages.splice(this.messages.indexOf(ReceiptHandle), 1);
    }
    return json({});
  }
}

function json(body: object): Reaction {
  return {
    status: 200,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: JSON.stringify(body),
  };
}

async function addKeys(): Promise<number> {
  const { db } = world();
  const [organisation] = await db.query<{ id: number }>('SELECT id FROM organisations');
  const fields = {
    access_key_id: 'AKIDEXAMPLE',
    secret_access_key: 'secret',
    region: 'us-east-1',
    service: 'sqs',
  };
  const given = {
    ...{ organisationId: organisation?.id ?? 0, name: 'queue', type: 'aws', hosts: ['127.0.0.1'], fields },
  } as const;
  const keys = createSecretKeys(loadConfig(KEY));
  return (await addCredential({ db, keys }, given, { actor: 'operator' })).id;
}

const receiving = (url: string, credential: number): Flow => ({
  nodes: [
    { id: 'start', type: 'trigger.sqs', data: { config: { credential_id: credential, queue_url: url } } },
    { id: 'set', type: 'core.set', data: { config: { values: { id: '{{trigger.data.text}}' } } } },
  ],
  edges: [{ source: 'start', target: 'set' }],
});
