import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NodeRecord } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shell } from './millrace.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const PAGE = join(ROOT, 'docs/cli.md');
const EXAMPLE = /^```console\n([\s\S]*?)^```$/gm;

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'millrace-docs-'));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

// `vitest run docs.test.ts -u` updates the page with the current output of the commands.
it('docs/cli.md shows what the commands print', async () => {
  const page = await readFile(PAGE, 'utf8');
  let replayed = page;
  for (const [block, body = ''] of page.matchAll(EXAMPLE)) {
    if (block.includes('millrace executions show')) await storeExecutions();
    let shown = '';
    for (const line of body.split('\n').filter((text) => text.startsWith('$ '))) {
      shown += `${line}\n${await print(line.slice(2))}`;
    }
    if (withoutChance(shown) !== withoutChance(body)) {
      replayed = replayed.replace(block, () => `\`\`\`console\n${shown}\`\`\``);
    }
  }
  await expect(replayed).toMatchFileSnapshot(PAGE);
});

function print(line: string): Promise<string> {
  const env = { DATABASE_URL: database.url, MILLRACE_DATA_DIR: folder };
  return shell(line, { cwd: ROOT, env }).then(({ text }) => text);
}

/** Times and keys differ in every run, but not in length. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d(\.\d{3})?Z/g, 'TIME')
    .replaceAll(/mr_\w{12}_\S+/g, 'KEY')
    .replaceAll(/"last_four": "\w{4}"/g, 'LAST FOUR');
}

const START = Date.parse('2026-11-20T09:30:00.000Z');

/** Execution 42, which failed, and 43, which is queued, both of workflow 1. */
async function storeExecutions(): Promise<void> {
  const ran = { attempts: 1, consumedAiTokens: 0 };
  const records: NodeRecord[] = [
    {
      ...ran,
      nodeId: 'event',
      status: 'success',
      startedAtMs: START,
      completedAtMs: START + 1,
      output: { data: {} },
      handles: ['out'],
    },
    {
      ...ran,
      nodeId: 'kind',
      status: 'success',
      startedAtMs: START + 1,
      completedAtMs: START + 2,
      output: {},
      handles: ['push'],
    },
    {
      ...ran,
      nodeId: 'announce',
      status: 'failed',
      attempts: 3,
      startedAtMs: START + 2,
      completedAtMs: START + 3150,
      output: {},
      error: {
        code: 'http_status',
        message: verbatim('POST https://chat.example.com/pushes returned status 503.'),
      },
      handles: [],
    },
  ];
  const error = {
    code: 'http_status',
    message: 'POST https://chat.example.com/pushes returned status 503.',
    node_id: 'announce',
  };
  await database.db.query(
    `INSERT INTO executions (id, organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at, error)
     SELECT 42, organisation_id, id, version, 'failed', 'webhook', 'Event router #42', false, '{}'::json,
       $1::timestamptz, $1::timestamptz, $1::timestamptz + interval '3.15 seconds', $2::json FROM workflows WHERE id = 1
     UNION ALL
     SELECT 43, organisation_id, id, version, 'queued', 'webhook', 'Event router #43', false, '{}'::json,
       $1::timestamptz, NULL, NULL, NULL FROM workflows WHERE id = 1`,
    [new Date(START), JSON.stringify(error)],
  );
  await database.db.query(
    `INSERT INTO execution_checkpoints (execution_id, seq, organisation_id, records)
     SELECT id, 1, organisation_id, $1::json FROM executions WHERE id = 42`,
    [JSON.stringify(records)],
  );
}
