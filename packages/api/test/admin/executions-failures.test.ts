import { failure, ServiceError } from '@millrace/engine';
import { message, verbatim } from '@millrace/messages';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { flowOf } from '../../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';

const DETAIL = 'GET /orgs/:org/executions/:execution';
const NODE = 'GET /orgs/:org/executions/:execution/nodes/:node';
const LIST = 'GET /orgs/:org/executions';
const SECRET = 's3cret-token-of-a-node';

let service: WorkingService;
let viewer: TestPerson;
let org: number;
beforeAll(async () => {
  service = await startWorkingService({
    services: {
      credentials: ({ onSecret }) => ({
        async open() {
          onSecret(SECRET);
          return { type: 'bearer', token: SECRET } as never;
        },
        authenticate: () => Promise.reject(new Error('no node of these tests sends anything')),
        token: () => Promise.reject(new Error('no node of these tests sends anything')),
      }),
    },
  });
  org = service.key.organisationId;
  viewer = await createPerson(service as never, 'viewer', { organisationId: org });
});
afterAll(() => service.stop());

const read = (execution: number) => viewer.call(DETAIL, { params: { org, execution } });
const readNode = (execution: number, node: string) => viewer.call(NODE, { params: { org, execution, node } });

/** An ended execution of a node `act`, alone or inside a loop. */
async function ended(behaviour: Parameters<WorkingService['behaviours']['set']>[1], loop?: object) {
  const name = `do ${service.behaviours.size}`;
  service.behaviours.set(name, behaviour);
  const act = ['act', 'test.effect', { config: { do: name }, label: 'Act: "now"' }] as const;
  if (loop === undefined) return run(flowOf([act], ['start>act']));
  const { type, ...config } = loop as { type: string };
  const flow = flowOf([['loop', type, { config }], act], ['start>loop']) as {
    nodes: { id: string; parentId?: string }[];
  };
  for (const node of flow.nodes) if (node.id === 'act') node.parentId = 'loop';
  return run(flow);
}

async function run(flow: object): Promise<number> {
  const id = await service.execute(await service.createWorkflow(flow));
  await service.finished(id);
  return id;
}

describe('a secret in a message inside a message', () => {
  const nested = message('nodes.child_failed', {
    id: 7,
    failure: message('run.in_iteration', {
      iteration: '0',
      node: `of ${SECRET}`,
      failure: message('run.node_failed', { reason: Buffer.from(SECRET).toString('base64') }),
    }),
  });

  test.each([
    ['reported', () => failure('broken', nested)],
    [
      'thrown',
      () => {
        throw new ServiceError('broken', nested);
      },
    ],
  ])('is masked in both APIs, in the database and in the log when it is %s', async (_how, end) => {
    const id = await ended(async (context) => {
      await context.credentials.open(1, { types: ['bearer'] });
      return end();
    });
    const shown = await Promise.all([
      service.api('GET', `/executions/${id}`, { key: service.key }),
      service.api('GET', '/executions', { key: service.key }),
      read(id),
      readNode(id, 'act'),
      viewer.call(LIST, { params: { org } }),
    ]);
    const stored = await service.database.db.query(
      `SELECT e.error, c.records FROM executions e JOIN execution_chunks c ON c.execution_id = e.id WHERE e.id = $1`,
      [id],
    );
    for (const { text } of shown) expect(text).toContain('***');
    const everything = [...shown.map(({ text }) => text), JSON.stringify(stored), ...service.logs].join('\n');
    expect(everything).not.toContain(SECRET);
    expect(everything).not.toContain(Buffer.from(SECRET).toString('base64').slice(0, 20));
  });
});

/** What earlier versions stored of a failure. */
interface OldFailure {
  readonly code: string;
  readonly message?: string;
  readonly node_id?: string | null;
}

/** Stores a copy of an execution the way an earlier version did: failures are sentences. Returns its id. */
async function storeOld(id: number, old: OldFailure): Promise<number> {
  const { db } = service.database;
  const [copy] = await db.query<{ id: number }>(
    `INSERT INTO executions SELECT (jsonb_populate_record(e, jsonb_build_object('id', nextval('execution_ids'), 'error', $2::jsonb,
       'first_records', NULL, 'first_records_at', NULL))).*
     FROM executions e WHERE e.id = $1 RETURNING id`,
    [id, JSON.stringify(old)],
  );
  const rows = await db.query<{ seq: number; records: string }>(
    'SELECT seq, records FROM execution_chunks WHERE execution_id = $1',
    [id],
  );
  const { code, message: said } = old;
  for (const { seq, records } of rows) {
    const list = (JSON.parse(records) as object[]).map((record) =>
      'error' in record
        ? { ...record, error: said === undefined ? { code } : { code, message: said } }
        : record,
    );
    await db.query(
      `INSERT INTO execution_checkpoints (execution_id, seq, organisation_id, records) VALUES ($1, $2, $3, $4::json)`,
      [copy?.id, seq, org, JSON.stringify(list)],
    );
  }
  return copy?.id ?? 0;
}

describe('failures stored by earlier versions', () => {
  test.each([
    ['as a sentence', { code: 'no_stock', message: 'GET {{it}} *failed*', node_id: 'act' }],
    ['without a message', { code: 'no_stock', node_id: 'act' }],
    ['without a node', { code: 'no_stock', message: 'stopped' }],
  ])('%s are shown by both APIs', async (_how, old) => {
    const now = await ended(() => failure('no_stock', verbatim('none left')));
    const id = await storeOld(now, old);
    const { code, message: said = '', node_id: nodeId = null } = old as OldFailure;

    const inPublic = await service.api('GET', `/executions/${id}`, { key: service.key });
    expect(inPublic.json).toMatchObject({
      error: { code, message: said, node_id: nodeId },
      node_outputs: { act: { status: 'failed', error: { code, message: said } } },
    });
    const listed = await service.api('GET', '/executions?status=failed', { key: service.key });
    expect(listed.json.data.find((item: { id: number }) => item.id === id)?.error).toEqual(
      inPublic.json.error,
    );

    const failed = { code, message: said, key: 'run.verbatim', params: { text: said } };
    const { data } = await read(id);
    expect(data.execution.error).toEqual({ ...failed, node_id: nodeId });
    expect(data.nodes.find((node) => node.node_id === 'act')).toMatchObject({
      error: failed,
      spans: [{ error: failed }],
    });
    expect((await readNode(id, 'act')).data).toMatchObject({ status: 'failed', error: failed });
    const items = (await viewer.call(LIST, { params: { org } })).data.items;
    expect(items.find((item) => item.id === id)?.error).toEqual(data.execution.error);
  });

  test.each([
    ['with a list', { type: 'core.for_each', items: [1, 2, 3] }],
    [
      'without a list',
      { type: 'core.repeat', max_iterations: 5, until: [{ left: 1, operator: 'equals', right: 2 }] },
    ],
  ])('mark the failed iteration of a loop %s', async (_how, loop) => {
    const now = await ended(
      ({ iteration: [index] }) =>
        index === 1 ? failure('no_stock', verbatim('none')) : ({ kind: 'success', output: {} } as never),
      loop,
    );
    const said = 'Iteration 1, node "Act: \\"now\\"": none';
    const id = await storeOld(now, { code: 'no_stock', message: said, node_id: 'loop' });
    for (const execution of [now, id]) {
      const { data } = await viewer.call(`${NODE}/iterations`, { params: { org, execution, node: 'loop' } });
      expect(data.items.map(({ iteration, status }) => [iteration, status])).toEqual([
        [[0], 'success'],
        [[1], 'failed'],
      ]);
    }
    const { data } = await read(id);
    expect(data.execution.error).toMatchObject({ message: said, key: 'run.verbatim', node_id: 'loop' });
  });
});
