import { execFile } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonValue } from '@millrace/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runWith } from './imported-run.ts';
import { PUBLISHED, type Published } from './published-workflows.ts';
import { type Reached, reachServices } from './services.ts';
import { openWorld, type World } from './world.ts';

/** A folder in which `npm install n8n` was run, and one with published workflows; neither is part of this repository. */
const { N8N_FOLDER: N8N, N8N_SAMPLES: SAMPLES } = process.env;

const TELEGRAM = `12345:${'a'.repeat(35)}`;

/** What n8n's nodes ask before they do what they are for: a token for a password, and names of fields. */
const OWN_LOOKUPS: readonly RegExp[] = [
  /^\["POST \/api\.baserow\.io\/api\/user\/token-auth\//,
  /^\["GET \/api\.baserow\.io\/api\/database\/fields\//,
  /^\["GET \/www\.googleapis\.com\/drive\/v3\/files\/[^"]*",\{"fields":/,
  /^\["GET \/s3\.example\.com\/[^"]*",\{"location":/,
];

/** The same text for what means the same: moments of the run, numbers of executions, characters that may be escaped, and which item an item came from. */
function withoutChance(call: string): string {
  return call
    .replaceAll(/\b1[789]\d{11}\b/g, '<ms>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\bfg-\d+\.jpg/g, 'fg-<execution>.jpg')
    .replaceAll(/%2C%22(?:pairedItem%22%3A%7B%22item%22%3A\d+|binary%22%3A%7B)%7D/g, '')
    .replaceAll('%27', "'")
    .replaceAll('"or":"(telegram_id.eq.7)","limit":"50"', '"telegram_id":"eq.7"');
}

/** What has another form and means the same to the service. */
function plain(line: string, body: unknown): unknown {
  if (line.endsWith('/api/v4/posts')) return { ...(body as object), props: undefined };
  if (line.includes('.supabase.co/') && Array.isArray(body) && body.length === 1) return body[0];
  return line.includes('/api.telegram.org/') && typeof body === 'object' && body !== null
    ? plainMessage(body as Message)
    : body;
}

interface Message {
  readonly [name: string]: unknown;
  readonly text?: unknown;
  readonly chat_id?: unknown;
  readonly reply_to_message_id?: unknown;
  readonly disable_web_page_preview?: unknown;
}

/** Of Telegram: without the advertisement that n8n adds, with the members that took the place of older ones, and with no preview of links that aren't there. */
function plainMessage(message: Message): unknown {
  const {
    chat_id: chat,
    text = '',
    reply_to_message_id: replied,
    disable_web_page_preview: isOff,
    ...others
  } = message;
  const written = String(text).replace(/\n\n_This message was sent automatically[\s\S]*$/, '');
  const hasLink = /\S\.\S/.test(written);
  return {
    ...(hasLink && isOff !== undefined ? { link_preview_options: { is_disabled: isOff } } : {}),
    ...(replied === undefined ? {} : { reply_parameters: { message_id: replied } }),
    ...(hasLink ? others : { ...others, link_preview_options: undefined }),
    chat_id: String(chat),
    text: written,
  };
}

/** Both wait a second instead of minutes, and leave out what neither can run. */
function prepared(text: string, leftOut: readonly string[] = []): string {
  const original = JSON.parse(text.replaceAll(/("amount":\s*)\d+/g, '$11')) as {
    readonly nodes: readonly { readonly name: string }[];
    readonly connections: {
      readonly [name: string]: { readonly main?: readonly (readonly Link[] | null)[] };
    };
  };
  const isKept = (name: string) => !leftOut.includes(name);
  const connections = Object.entries(original.connections)
    .filter(([name]) => isKept(name))
    .map(([name, { main = [], ...others }]) => [
      name,
      { ...others, main: main.map((links) => (links ?? []).filter(({ node }) => isKept(node))) },
    ]);
  const nodes = original.nodes.filter(({ name }) => isKept(name));
  return JSON.stringify({ ...original, nodes, connections: Object.fromEntries(connections) });
}

interface Link {
  readonly node: string;
}

/** A body without the order of its members. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, sorted(each)] as const);
  return Object.fromEntries(entries.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

describe.skipIf(N8N === undefined || SAMPLES === undefined)(
  'a published workflow calls what n8n calls',
  () => {
    let world: World;
    let reached: Reached;
    let folder: string;
    let credentialFor: (type: string) => number;
    beforeAll(async () => {
      world = await openWorld();
      reached = await reachServices(world);
      folder = await mkdtemp(join(tmpdir(), 'published-'));
      const telegram = await world.addCredential('chat', {
        ...{ service: 'telegram', token: TELEGRAM, base_url: 'https://api.telegram.org' },
      });
      const hosts = PUBLISHED.flatMap(({ replies }) =>
        Object.keys(replies).map((line) => line.split('/')[1] ?? ''),
      );
      const bearer = await world.addToken(...new Set(hosts));
      credentialFor = (type) => (type.startsWith('connector.telegram') ? telegram : bearer);
    });
    afterAll(async () => {
      await reached.stop();
      await world.close();
    });

    async function callsOf({ replies }: Published, run: () => Promise<unknown>): Promise<readonly string[]> {
      world.outside.forget();
      for (const [line, reply] of Object.entries(replies)) world.outside.on(line, reply);
      await run();
      return world.outside.received
        .map(({ line, query, body, text }) =>
          JSON.stringify([line, query, body === null ? text : sorted(plain(line, body))]),
        )
        .filter((call) => !OWN_LOOKUPS.some((each) => each.test(call)))
        .map(withoutChance)
        .toSorted();
    }

    it.each(PUBLISHED.map((each) => [each.file, each] as const))(
      '%s',
      async (name, published) => {
        const file = join(folder, 'workflow.json');
        const whole = await readFile(join(SAMPLES ?? '', `${name}.json`), 'utf8');
        const text = prepared(whole, published.leftOut);
        await writeFile(file, text);
        const setup = join(folder, 'setup.json');
        const pinned = Object.entries(published.pinned ?? {}).map(([node, items]) => [
          node,
          items.map((json) => ({ json })),
        ]);
        await writeFile(
          setup,
          JSON.stringify({
            calls_to: world.outside.url,
            ...(pinned.length === 0 ? {} : { pinned: Object.fromEntries(pinned), start: pinned[0]?.[0] }),
            credentials: {
              telegramApi: { accessToken: TELEGRAM, baseUrl: 'https://api.telegram.org' },
              httpHeaderAuth: {},
              httpBearerAuth: {},
              openAiApi: {},
              supabaseApi: { host: 'https://proj.supabase.co', serviceRole: 'x' },
              mattermostApi: { baseUrl: 'https://chat.example.com', accessToken: 'x' },
              googleCloudNaturalLanguageOAuth2Api: {},
              googlePerspectiveOAuth2Api: {},
              trelloApi: { apiKey: 'k', apiToken: 't' },
              googleDriveOAuth2Api: {},
              s3: {
                endpoint: 'https://s3.example.com',
                region: 'eu',
                accessKeyId: 'a',
                secretAccessKey: 'b',
                forcePathStyle: true,
              },
              baserowApi: { host: 'https://api.baserow.io', username: 'u', password: 'p' },
              discordWebhookApi: { webhookUri: 'https://discord.com/api/webhooks/1/x' },
            },
          }),
        );
        const theirs = await callsOf(published, async () => {
          const { stdout } = await promisify(execFile)(
            process.execPath,
            ['tools/n8n/run.cjs', N8N ?? '', file, setup],
            {
              env: { ...process.env, ...published.vars },
            },
          );
          expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
            status: 'success',
            error: null,
          });
        });
        expect(theirs.length).toBeGreaterThan(0);
        const original = JSON.parse(text) as JsonValue;
        const vars = published.vars ?? {};
        const ours = await callsOf(published, () =>
          runWith(world, original, { credentialFor, vars }, published.input ?? {}),
        );
        expect(ours).toEqual(theirs);
      },
      120_000,
    );
  },
);
