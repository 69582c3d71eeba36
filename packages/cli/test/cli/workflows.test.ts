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
