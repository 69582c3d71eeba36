import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { listTemplates } from '@millrace/service/templates/catalogue';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { millrace, type Run, shell } from './millrace.ts';

const ids = (await listTemplates()).map(({ id }) => id);

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
  it('lists every example with what it needs', async () => {
    const all = await listTemplates();
    expect(await json('templates', 'list')).toEqual(
      all.map(({ id, summary, setup, samples }) => ({ id, summary, setup, samples })),
    );
    const { stdout } = await run('templates', 'list');
    for (const { id, summary } of all)
      expect(stdout).toMatch(new RegExp(`^${id} +([A-Za-z0-9_,/() ]+ )? *${escaped(summary)}`, 'm'));
    expect(stdout).toMatch(/^order-paid +secret, sql, smtp +Books/m);
    expect(stdout).toMatch(
      /^orders-to-notion +Shopify \(header\/oauth2\), Notion \(bearer\/oauth2\), chat +Looks/m,
    );
  });
});

describe('templates import', () => {
  it('stores the workflow with the given variables: JSON as JSON, anything else as text', async () => {
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

  it('lists what is still to be set', async () => {
    const { exitCode, stdout } = await run('templates', 'import', 'event-router');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Imported as workflow \d+, "Event router", draft\.$/m);
    expect(stdout).toMatch(/^ {2}receiver_url: /m);
    const complete = await run(
      'templates',
      'import',
      'event-router',
      '--var',
      'receiver_url=http://127.0.0.1:9',
    );
    expect(complete.stdout).not.toContain('Set these');
  });

  it('imports companions with their ids and variables in place', async () => {
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
    expect(stdout).toMatch(/^Also imported:\n {2}workflow \d+, "Webhook fan-in: digest", draft$/m);
  });

  it.each([
    [['nothing'], 'template_unknown', 'event-router'],
    [['event-router', '--var', 'receiver=1'], 'variable_unknown', 'receiver_url'],
    // A rejected workflow must not leave its companion behind.
    [['nightly-sync', '--var', 'shop_url="\\u0000"'], 'validation_failed', ''],
  ])('refuses %j with the available names', async (words, code, hint) => {
    const before = await workflowCount();
    const { exitCode, stdout, stderr } = await run('templates', 'import', ...words, '--json');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
    expect(error.code).toBe(code);
    expect(error.message).toContain(hint);
    expect(await workflowCount()).toEqual(before);
  });
});

/** The files that readers of the READMEs write, as they would. */
const FILES: { readonly [name: string]: string } = {
  ...Object.fromEntries(
    ['token.txt', 'key.txt', 'shop.txt', 'crm.txt', 'secret.txt', 'whsec.txt'].map((name) => [
      name,
      'not-a-real-one\n',
    ]),
  ),
  'webhook.txt': 'https://hooks.slack.com/services/T0/B0/not-a-real-one\n',
  'zendesk.json': JSON.stringify({ username: 'me/token', password: 'not-a-real-one' }),
  'mqtt.json': JSON.stringify({ host: 'mqtt.example.com', username: 'me', password: 'not-a-real-one' }),
  'redis.json': JSON.stringify({ host: 'redis.example.com', password: 'not-a-real-one' }),
  'kafka.json': JSON.stringify({ brokers: 'kafka.example.com', username: 'me', password: 'not-a-real-one' }),
  'mongodb.json': JSON.stringify({
    ...{ dialect: 'mongodb', host: 'db.example.com', database: 'shop' },
    ...{ username: 'me', password: 'not-a-real-one' },
  }),
  'jira.json': JSON.stringify({ username: 'me', password: 'not-a-real-one' }),
  'imap.json': JSON.stringify({ host: 'imap.example.com', username: 'me', password: 'not-a-real-one' }),
  'smtp.json': JSON.stringify({
    host: 'smtp.example.com',
    port: 587,
    security: 'starttls',
    username: 'me',
    password: 'not-a-real-one',
  }),
  'orders-credential.json': JSON.stringify({
    dialect: 'postgresql',
    host: 'db.example.com',
    database: 'shop',
    username: 'me',
    password: 'not-a-real-one',
  }),
};

/** The `millrace` commands in a page's code blocks, one per line. */
function commandsIn(page: string): string[] {
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const lines = blocks
    .join('')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  return lines.filter((line) => line.startsWith('millrace '));
}

describe('the README of', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-examples-'));
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
  });
  afterAll(() => rm(folder, { recursive: true }));

  // May remain: strings with a usable default.
  it.each(ids)('%s sets up everything it needs, with existing commands', async (id) => {
    const own = await createTestDatabase();
    try {
      await createOrganisation(own.db, 'Acme', { actor: 'operator' });
      const readme = await readFile(new URL(`../../../../examples/${id}/README.md`, import.meta.url), 'utf8');
      const commands = commandsIn(readme);
      expect(commands.at(-1)).toContain(`templates import ${id}`);
      for (const command of commands) {
        const env = { DATABASE_URL: own.url, MILLRACE_DATA_DIR: join(folder, 'data') };
        const { exitCode, text } = await shell(command, { cwd: folder, env });
        expect({ command, exitCode, text }).toMatchObject({ exitCode: 0 });
        const named = /# (?:credential )?(\d+)$/.exec(command)?.[1];
        if (named !== undefined) expect(text).toMatch(new RegExp(`^id +${named}$`, 'm'));
        const left = [...text.matchAll(/^ {2}(\w+): /gm)].map(([, name = '']) => name);
        expect(left.filter((name) => /credential|database|secret|url/.test(name))).toEqual([]);
      }
    } finally {
      await own.drop();
    }
  });
});

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
