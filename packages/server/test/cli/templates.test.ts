import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOrganisation } from '../../src/features/organisations/store.ts';
import { listTemplates } from '../../src/features/templates/catalogue.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { millrace, type Run } from './millrace.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await createOrganisation(database.db, 'Acme', { actor: 'operator' });
});
afterAll(() => database.drop());

function run(...words: string[]): Promise<Run> {
  return millrace(words, { env: { DATABASE_URL: database.url } });
}

async function json(...words: string[]): Promise<unknown> {
  const { exitCode, stdout, stderr } = await run(...words, '--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout);
}

function workflowCount(): Promise<unknown> {
  return database.db.query('SELECT count(*)::int AS count FROM workflows').then(([row]) => row);
}

describe('templates list', () => {
  it('names every example with what it needs', async () => {
    const all = await listTemplates();
    expect(await json('templates', 'list')).toEqual(
      all.map(({ id, summary, setup, samples }) => ({ id, summary, setup, samples })),
    );
    const { stdout } = await run('templates', 'list');
    for (const { id, summary } of all) expect(stdout).toMatch(new RegExp(`^${id} +${escaped(summary)}`, 'm'));
  });
});

describe('templates import', () => {
  it('stores the workflow with the variables that are given: JSON as it is, all else as text', async () => {
    const stored = await json(
      ...['templates', 'import', 'github-issue-to-chat', '--var', 'labels=["bug","leak"]'],
      ...['--var', 'chat_credential=7', '--var', 'chat_channel=C0123', '--var', 'github_secret=9'],
    );
    expect(stored).toMatchObject({
      name: 'GitHub issue to chat',
      status: 'draft',
      problems: [],
      flow_data: {
        nodes: [
          { data: { config: { signature: { preset: 'github', credential_id: 9 } } } },
          {},
          {},
          {},
          {},
          {},
        ],
        settings: { vars: { labels: ['bug', 'leak'], chat_credential: 7, chat_channel: 'C0123' } },
      },
    });
  });

  it('tells what is still to be set', async () => {
    const { exitCode, stdout } = await run('templates', 'import', 'event-router');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Imported as workflow \d+, "Event router", active\.$/m);
    expect(stdout).toMatch(/^ {2}receiver_url: /m);
    const complete = await run(
      'templates',
      'import',
      'event-router',
      '--var',
      'receiver_url=http://127.0.0.1:9',
    );
    expect(complete.stdout).not.toContain('To be set');
  });

  it('brings companions along: their ids and variables are where they belong', async () => {
    const stored = (await json('templates', 'import', 'webhook-fan-in', '--var', 'chat_credential=7')) as {
      id: number;
      flow_data: { settings: { vars: { digest_workflow: number } } };
    };
    const companionId = stored.flow_data.settings.vars.digest_workflow;
    const companion = await json('workflows', 'export', String(companionId));
    expect(companion).toMatchObject({
      name: 'Webhook fan-in: digest',
      problems: [],
      flow_data: { settings: { vars: { chat_credential: 7 } } },
    });
    const alarmed = (await json('templates', 'import', 'nightly-sync', '--var', 'timezone=Asia/Tokyo')) as {
      flow_data: { nodes: { data: { config: object } }[]; settings: { error_workflow_id: number } };
    };
    expect(alarmed.flow_data.nodes[0]?.data.config).toMatchObject({ timezone: 'Asia/Tokyo' });
    const alarm = await json('workflows', 'export', String(alarmed.flow_data.settings.error_workflow_id));
    expect(alarm).toMatchObject({ name: 'Nightly sync: alarm' });
    const { stdout } = await run('templates', 'import', 'webhook-fan-in');
    expect(stdout).toMatch(/^Imported with it:\n {2}workflow \d+, "Webhook fan-in: digest", draft$/m);
  });

  it.each([
    [['nothing'], 'template_unknown', 'event-router'],
    [['event-router', '--var', 'receiver=1'], 'variable_unknown', 'receiver_url'],
    // What is wrong with the workflow must not leave its companion behind.
    [['nightly-sync', '--var', 'shop_url="\\u0000"'], 'validation_failed', ''],
  ])('refuses %j with what there is', async (words, code, hint) => {
    const before = await workflowCount();
    const { exitCode, stdout, stderr } = await run('templates', 'import', ...words, '--json');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
    expect(error.code).toBe(code);
    expect(error.message).toContain(hint);
    expect(await workflowCount()).toEqual(before);
  });
});

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
