import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { millrace, type Run } from './millrace.ts';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
  await createOrganisation(database.db, 'Acme', { actor: 'operator' });
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

function run(words: readonly string[], stdin = ''): Promise<Run> {
  return millrace(words, { env: { DATABASE_URL: database.url }, stdin });
}

const WORKFLOW = {
  name: 'Greeting',
  description: 'Says hello.',
  tags: ['b', 'a'],
  status: 'active',
  flow_data: {
    nodes: [
      { id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} },
      {
        id: 'hello',
        type: 'core.set',
        data: { config: { values: { text: 'Hello {{trigger.data.name}}' } } },
      },
    ],
    edges: [{ id: 'e1', source: 'start', target: 'hello' }],
  },
};

async function importText(text: string): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await run(['workflows', 'import', '-', '--json'], text);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('workflows import and export', () => {
  it('imports an export as a new workflow with the same content', async () => {
    const first = await importText(JSON.stringify(WORKFLOW));
    expect(first).toMatchObject({ ...WORKFLOW, version: 1, problems: [] });
    const exported = await run(['workflows', 'export', String(first.id)]);
    const file = join(folder, 'greeting.json');
    await writeFile(file, exported.stdout);
    const { stdout } = await run(['workflows', 'import', file, '--org', 'Acme', '--json']);
    const second = JSON.parse(stdout) as Record<string, unknown>;
    expect(second.id).not.toBe(first.id);
    expect(second).toEqual({
      ...first,
      id: second.id,
      created_at: second.created_at,
      updated_at: second.updated_at,
    });
  });

  it('keeps numbers beyond a double', async () => {
    const text = JSON.stringify(WORKFLOW).replace(
      '"data":{}',
      '"data":{"config":{}},"ticket":9007199254740993',
    );
    const { id } = await importText(text);
    for (const options of [[], ['--json']]) {
      const { stdout } = await run(['workflows', 'export', String(id), ...options]);
      expect(stdout).toContain('"ticket": 9007199254740993');
    }
  });

  it.each([
    ['no JSON', '{', 'invalid_json', undefined],
    ['an unknown member', JSON.stringify({ ...WORKFLOW, colour: 'red' }), 'validation_failed', '/colour'],
    [
      'an edge to nowhere',
      JSON.stringify(WORKFLOW).replace('"target":"hello"', '"target":"gone"'),
      'validation_failed',
      '/flow_data/edges/0/target',
    ],
    [
      'NUL in a text',
      JSON.stringify({ ...WORKFLOW, description: 'a\u0000b' }),
      'validation_failed',
      '/description',
    ],
    [
      'an active workflow with problems',
      JSON.stringify(WORKFLOW).replace('core.set', 'core.nothing'),
      'validation_failed',
      '/flow_data/nodes/1/type',
    ],
  ])('refuses %s as the API does', async (_what, text, code, pointer) => {
    const { exitCode, stdout, stderr } = await run(['workflows', 'import', '-', '--json'], text);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    const { error } = JSON.parse(stderr) as { error: { code: string; details?: string[] } };
    expect(error.code).toBe(code);
    if (pointer !== undefined) expect(error.details?.join('\n')).toContain(pointer);
  });

  it("says which file can't be read and which workflow doesn't exist", async () => {
    const missing = await run(['workflows', 'import', join(folder, 'nothing.json')]);
    expect(missing.exitCode).toBe(1);
    expect(missing.stderr).toContain('nothing.json');
    expect(await run(['workflows', 'export', '999999'])).toMatchObject({ exitCode: 1, stdout: '' });
  });
});

describe('import', () => {
  const ORIGINAL = {
    name: 'Restart',
    nodes: [
      { name: 'Start', type: 'n8n-nodes-base.manualTrigger', position: [0, 0], parameters: {} },
      { name: 'Name it', type: 'n8n-nodes-base.noOp', position: [200, 0], parameters: {} },
      { name: 'Shell', type: 'n8n-nodes-base.ssh', position: [400, 0], parameters: { command: 'uptime' } },
    ],
    connections: {
      Start: { main: [[{ node: 'Name it', type: 'main', index: 0 }]] },
      'Name it': { main: [[{ node: 'Shell', type: 'main', index: 0 }]] },
    },
  };
  const APP =
    'app: {mode: workflow, name: Report}\nworkflow:\n  graph:\n    nodes:\n    - {id: a, data: {type: start}}\n    edges: []\n';
  let exports: string;
  beforeAll(async () => {
    exports = await mkdtemp(join(folder, 'exports-'));
    await writeFile(join(exports, 'restart.json'), JSON.stringify(ORIGINAL));
  });

  it('stores a draft, and says for each node what became of it', async () => {
    const { exitCode, stdout } = await run(['import', exports, '--json']);
    const [entry] = JSON.parse(stdout) as [{ workflow: { id: number } }];
    expect(exitCode).toBe(0);
    expect(entry).toMatchObject({
      file: join(exports, 'restart.json'),
      product: 'n8n',
      name: 'Restart',
      companions: [],
      nodes: 3,
      mapped: [{ node: 'Start' }, { node: 'Name it' }],
      approximated: [],
      dropped: [
        { node: 'Shell', type: 'n8n-nodes-base.ssh', reason: expect.stringContaining('placeholder') },
      ],
      problems: [{ workflow: 'Restart', code: 'placeholder', node_id: 'shell' }],
    });
    const stored = await run(['workflows', 'export', String(entry.workflow.id)]);
    expect(JSON.parse(stored.stdout)).toMatchObject({ name: 'Restart', status: 'draft' });
  });

  it('stores nothing in a dry run, and needs no service for it', async () => {
    const count = async () => (await database.db.query('SELECT id FROM workflows')).length;
    const before = await count();
    const { exitCode, stdout } = await millrace(['import', join(exports, 'restart.json'), '--dry-run'], {
      env: { MILLRACE_DATA_DIR: join(folder, 'nothing') },
    });
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('Would become "Restart"')]);
    expect(await count()).toBe(before);
  });

  it('names each file that cannot be read, reads the others, and fails', async () => {
    const mixed = await mkdtemp(join(folder, 'mixed-'));
    await writeFile(join(mixed, 'a.json'), '{"nodes": [');
    await writeFile(join(mixed, 'b.json'), JSON.stringify(ORIGINAL));
    await writeFile(join(mixed, 'c.json'), '{"hello": 1}');
    await writeFile(join(mixed, 'd.json'), ' '.repeat(6 * 1024 * 1024));
    await writeFile(join(mixed, 'e.yml'), APP);
    await writeFile(join(mixed, 'f.yaml'), 'app: [');
    const { exitCode, stdout } = await run(['import', mixed, '--dry-run', '--json']);
    const entries = JSON.parse(stdout) as { product?: string; error?: { code: string } }[];
    expect([exitCode, entries.map(({ product, error }) => product ?? error?.code)]).toEqual([
      1,
      ['invalid_json', 'n8n', 'unknown_product', 'file_too_large', 'dify', 'not_yaml'],
    ]);
  });

  it('reads a file as that of the product that is named', async () => {
    const file = join(await mkdtemp(join(folder, 'app-')), 'report.yml');
    await writeFile(file, APP);
    const { stdout } = await run(['import', file, '--from', 'dify', '--dry-run']);
    expect(stdout).toContain('1 nodes: 1 mapped');
    const { exitCode, stdout: other } = await run([
      'import',
      file,
      '--from',
      'flowise',
      '--dry-run',
      '--json',
    ]);
    expect([exitCode, JSON.parse(other)[0].error.code]).toEqual([1, 'no_nodes']);
  });

  it('refuses an unknown product, and a path that is not there', async () => {
    const unknown = await run(['import', exports, '--from', 'paper', '--json']);
    expect([unknown.exitCode, JSON.parse(unknown.stderr).error.code]).toEqual([2, 'unknown_product']);
    const missing = await run(['import', join(folder, 'missing'), '--dry-run', '--json']);
    expect([missing.exitCode, JSON.parse(missing.stderr).error.code]).toEqual([1, 'file_unreadable']);
  });
});

describe('executions', () => {
  async function insertExecution(id: number, status: 'queued' | 'completed'): Promise<void> {
    const { id: workflowId } = await importText(JSON.stringify(WORKFLOW));
    await database.db.query(
      `INSERT INTO executions (id, organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
         is_test_mode, input, started_at, completed_at)
       SELECT $1, organisation_id, id, version, $2, 'manual', 'Greeting', false, '{"name":"Ada"}',
         CASE WHEN $2 = 'completed' THEN now() END, CASE WHEN $2 = 'completed' THEN now() END
       FROM workflows WHERE id = $3`,
      [id, status, workflowId],
    );
  }

  it('show prints the response of GET /executions/{id}', async () => {
    await insertExecution(501, 'completed');
    const { stdout } = await run(['executions', 'show', '501', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ id: 501, status: 'completed', input_data: { name: 'Ada' } });
    expect((await run(['executions', 'show', '501'])).stdout).toContain('No nodes have run.');
    expect(await run(['executions', 'show', '999999'])).toMatchObject({ exitCode: 1, stdout: '' });
  });

  it('cancel ends what is not final, once, and is recorded', async () => {
    await insertExecution(502, 'queued');
    const first = await run(['executions', 'cancel', '502', '--json']);
    expect(JSON.parse(first.stdout)).toEqual({ id: 502, status: 'cancelled' });
    const again = await run(['executions', 'cancel', '502', '--json']);
    expect(again).toMatchObject({ exitCode: 1, stdout: '' });
    expect(JSON.parse(again.stderr)).toMatchObject({ error: { code: 'execution_final' } });
    const [row] = await database.db.query('SELECT status FROM executions WHERE id = 502');
    expect(row).toEqual({ status: 'cancelled' });
    const audit = await database.db.query(
      "SELECT actor, details::text AS details FROM audit_log WHERE action = 'execution.cancelled'",
    );
    expect(audit).toEqual([{ actor: 'operator', details: '{"execution_id":502}' }]);
  });
});

describe('executions batch', () => {
  const FLOW = {
    ...WORKFLOW,
    name: 'Orders',
    flow_data: {
      ...WORKFLOW.flow_data,
      settings: {
        input_schema: {
          type: 'object',
          properties: { name: { type: 'string' }, amount: { type: 'number' }, paid: { type: 'boolean' } },
          required: ['name'],
        },
      },
    },
  };
  let orders: string;
  beforeAll(async () => {
    // Beyond the ids that the tests above have chosen.
    await database.db.query(`SELECT setval('execution_ids', 1000)`);
    orders = String((await importText(JSON.stringify(FLOW))).id);
  });

  async function inputs(workflow: string): Promise<unknown[]> {
    const rows = await database.db.query<{ input: string }>(
      `SELECT input FROM executions WHERE workflow_id = $1 AND trigger_type = 'manual' AND status = 'queued' ORDER BY id`,
      [Number(workflow)],
    );
    return rows.map(({ input }) => JSON.parse(input));
  }

  async function startFile(name: string, content: string | Uint8Array, ...words: string[]) {
    const file = join(folder, name);
    await writeFile(file, content);
    const { exitCode, stdout, stderr } = await run(['executions', 'batch', orders, file, '--json', ...words]);
    expect(stderr).toBe('');
    return { exitCode, ...(JSON.parse(stdout) as Record<string, unknown>) };
  }

  it('starts the rows of a CSV file, converted by the schema, and once only', async () => {
    const csv =
      '\uFEFFname,amount,paid,note\r\n"Ada, Countess",12.50,true,"two\nlines"\r\nGrace,,FALSE,\r\n\r\n';
    const first = await startFile('orders.csv', csv);
    expect(first).toMatchObject({ exitCode: 0, started: 2, replayed: 0, refused: 0, problems: [] });
    const expected = [
      { name: 'Ada, Countess', amount: 12.5, paid: true, note: 'two\nlines' },
      { name: 'Grace', paid: false },
    ];
    expect(await inputs(orders)).toEqual(expected);
    expect(await startFile('renamed.csv', csv)).toMatchObject({ exitCode: 0, started: 0, replayed: 2 });
    expect(await startFile('again.csv', csv, '--key', 'again')).toMatchObject({ started: 2, replayed: 0 });
    const [audit] = await database.db.query<{ details: string; actor: string }>(
      `SELECT details, actor FROM audit_log WHERE action = 'execution.started' ORDER BY id LIMIT 1`,
    );
    expect([audit?.actor, JSON.parse(audit?.details ?? '')]).toEqual([
      'operator',
      { workflow_id: Number(orders), count: 2 },
    ]);
  });

  it('reads other encodings, and says so if the given one is wrong', async () => {
    // "name" and a name in Shift_JIS.
    const bytes = Buffer.concat([
      Buffer.from('name;amount\n'),
      Buffer.from('93fa967b', 'hex'),
      Buffer.from(';7\n'),
    ]);
    const before = (await inputs(orders)).length;
    const started = await startFile('sjis.csv', bytes, '--encoding', 'shift_jis');
    expect(started).toMatchObject({ exitCode: 0, started: 1 });
    expect((await inputs(orders)).slice(before)).toEqual([{ name: '日本', amount: 7 }]);
    const wrong = await run(['executions', 'batch', orders, join(folder, 'sjis.csv'), '--json']);
    expect(wrong.exitCode).toBe(1);
    expect(JSON.parse(wrong.stderr)).toMatchObject({ error: { code: 'file_unreadable' } });
  });

  it('starts what fits, names the other rows and exits with 1', async () => {
    const csv = 'name,amount\nAda,1\n,2\nGrace,x\n';
    expect(await startFile('faulty.csv', csv)).toMatchObject({
      exitCode: 1,
      started: 1,
      refused: 2,
      problems: [
        { row: 2, code: 'validation_failed', errors: [{ pointer: '/name' }] },
        { row: 3, code: 'validation_failed', errors: [{ pointer: '/amount', message: 'must be a number' }] },
      ],
    });
    const { exitCode, stdout } = await run(['executions', 'batch', orders, join(folder, 'faulty.csv')]);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('0 started, 1 already started before, 2 refused');
    expect(stdout).toContain('row 3: /amount: must be a number');
  });

  it('reads JSON Lines and JSON, from standard input too', async () => {
    const lines = Array.from({ length: 2_300 }, (_, n) => `{"name":"n${n}","big":9007199254740993}`).join(
      '\n',
    );
    const piped = await run(
      ['executions', 'batch', orders, '-', '--format', 'jsonl', '--key', 'piped', '--json'],
      lines,
    );
    expect(piped.stderr).toBe('');
    expect(JSON.parse(piped.stdout)).toMatchObject({ started: 2_300 });
    const again = await run(
      ['executions', 'batch', orders, '-', '--format', 'jsonl', '--key', 'piped'],
      lines,
    );
    expect(again.stdout).toContain('0 started, 2300 already started before');
    expect(await startFile('list.json', '[{"name":"a"},{"name":"b"}]')).toMatchObject({ started: 2 });
  });

  it.each([
    ['a line that is no object', ['broken.jsonl'], '{"name":"a"}\n[1]\n', 'invalid_row', 1],
    ['no JSON list', ['broken.json'], '{}', 'invalid_row', 1],
    ['an unknown format', ['rows.txt'], 'name\n', 'unknown_format', 2],
    ['a malformed key', ['rows.csv', '--key', 'a b'], 'name\n', 'invalid_key', 2],
    ['an unknown encoding', ['rows.csv', '--encoding', 'x'], 'name\n', 'usage', 2],
    ['a row that is too large', ['large.csv'], `name\n${'x'.repeat(1024 * 1024)}\n`, 'row_too_large', 1],
  ])('refuses %s', async (_what, [name = '', ...words], content, code, exit) => {
    const file = join(folder, name);
    await writeFile(file, content);
    const { exitCode, stderr } = await run(['executions', 'batch', orders, file, '--json', ...words]);
    expect([exitCode, JSON.parse(stderr).error.code]).toEqual([exit, code]);
  });

  it('refuses an unknown workflow, an inactive one and a missing file', async () => {
    const file = join(folder, 'rows.csv');
    await writeFile(file, 'name\nAda\n');
    const codeOf = async (workflow: string, path: string) => {
      const { stderr } = await run(['executions', 'batch', workflow, path, '--json']);
      return JSON.parse(stderr).error.code as string;
    };
    const { id } = await importText(JSON.stringify({ ...FLOW, status: 'draft' }));
    await database.db.query(`UPDATE workflows SET status = 'inactive' WHERE id = $1`, [id]);
    expect(await codeOf('999999', file)).toBe('not_found');
    expect(await codeOf(String(id), file)).toBe('workflow_inactive');
    expect(await codeOf(orders, join(folder, 'missing.csv'))).toBe('file_unreadable');
  });
});
