import { readFile } from 'node:fs/promises';
import { connectorNodes } from '@millrace/connectors/connectors';
import {
  type Flow,
  type FlowNode,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@millrace/engine';
import { registry } from '@millrace/nodes';
import { listTemplates, type Template } from '@millrace/service/templates/catalogue';
import { pdfFile } from '@millrace/testing/pdf';
import { pngFile } from '@millrace/testing/png';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reached, reachServices } from './services.ts';
import { createOrders, openWorld, statusesOf, type World } from './world.ts';

/** Requirements for every folder of `examples/`, whatever its workflow does. */
const templates = await listTemplates();

interface Part {
  readonly name: string;
  readonly flow: Flow;
}

/** The workflows of a template: its own and its companions. */
function partsOf({ id, workflow, companions }: Template): Part[] {
  const flowOf = (body: JsonValue) => (body as { flow_data: unknown }).flow_data as Flow;
  return [
    { name: id, flow: flowOf(workflow) },
    ...companions.map((companion) => ({ name: `${id}/${companion.file}`, flow: flowOf(companion.workflow) })),
  ];
}

const parts = templates.flatMap(partsOf);

/** Every string in a value. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const part of Object.values(value)) yield* textsIn(part);
}

const PRIVATE_PLACE = /\b(?:127|10|192\.168|169\.254)\.\d+\.\d+|localhost|\[::1\]/;

function usedVariables({ nodes, settings }: Flow): Set<string> {
  const texts = [...textsIn(nodes), settings?.display_name ?? ''];
  const found = texts.flatMap((text) => [...text.matchAll(/\bvars\.(\w+)/g)].map(([, name]) => name ?? ''));
  return new Set(found);
}

describe('the catalogue', () => {
  it('has the examples that people start from', () => {
    expect(templates.map(({ id }) => id)).toEqual([
      'daily-report',
      'document-summary',
      'event-router',
      'fan-out',
      'feed-to-chat',
      'github-issue-to-chat',
      'greeting',
      'invoice-intake',
      'issue-to-jira',
      'knowledge-answers',
      'knowledge-upload',
      'lead-enrichment',
      'mailbox-triage',
      'meeting-notes',
      'monthly-export',
      'nightly-sync',
      'order-events',
      'order-paid',
      'orders-to-notion',
      'page-watch',
      'payment-reminder',
      'photo-archive',
      'product-search',
      'purchase-request',
      'receipt-mail',
      'refund-approval',
      'sensor-alarm',
      'signup-sheet',
      'slash-command',
      'status-link',
      'stock-count',
      'support-chat',
      'support-triage',
      'ticket-agent',
      'uptime-check',
      'webhook-fan-in',
      'webhook-relay',
      'weekly-digest',
      'xml-orders',
    ]);
  });

  it.each(parts)('$name: each variable is used, and each that is used is set', ({ flow }) => {
    expect([...usedVariables(flow)].sort()).toEqual(Object.keys(flow.settings?.vars ?? {}).sort());
  });

  it.each(templates)('$id: what has to be set up exists', (template) => {
    const known = partsOf(template).flatMap(({ flow }) => Object.keys(flow.settings?.vars ?? {}));
    const companions = template.companions.map(({ pointer }) => pointer);
    for (const step of template.setup) {
      if (step.pointer === undefined) expect(known).toContain(step.var);
      else expect(valueAt(template.workflow, step.pointer), step.pointer).not.toBeNull();
    }
    const asked = template.setup.map((step) => step.var);
    const filled = companions.map((pointer) => pointer.replace('/settings/vars/', ''));
    expect(new Set(asked).size).toBe(asked.length);
    for (const name of known) expect([...asked, ...filled, 'company']).toContain(name);
  });

  it.each(templates)(
    '$id: starts as a draft, and sends nothing to this machine or a private network',
    (template) => {
      const workflows = [template.workflow, ...template.companions.map(({ workflow }) => workflow)];
      for (const workflow of workflows) {
        expect(workflow).toMatchObject({ status: 'draft' });
        for (const text of textsIn(workflow)) expect(text).not.toMatch(PRIVATE_PLACE);
      }
      // Destinations are asked for, so that none is overlooked.
      const asked = template.setup.map((step) => step.var);
      for (const { flow } of partsOf(template)) {
        const places = Object.entries(flow.settings?.vars ?? {}).filter(
          ([, value]) => typeof value === 'string' && /^https?:/.test(value),
        );
        expect(asked).toEqual(expect.arrayContaining(places.map(([name]) => name)));
      }
    },
  );

  it.each(templates)('$id: asks for a credential wherever one is used', (template) => {
    const credentials = template.setup
      .filter((step) => step.credential !== undefined)
      .map((step) => step.var);
    const texts = partsOf(template).flatMap(({ flow }) => [...textsIn(flow.nodes)]);
    const named = JSON.stringify(texts).matchAll(/\{\{vars\.(\w*(?:credential|database))\}\}/g);
    for (const [, name] of named) expect(credentials).toContain(name);
  });

  it.each(parts)('$name: every node has an existing type and a label', ({ flow }) => {
    for (const { type, data } of flow.nodes) {
      expect(registry(type), type).toBeDefined();
      expect(data?.label).toMatch(/\S/);
    }
  });

  it.each(parts)('$name: nodes are side by side, and bodies inside their loops', ({ flow }) => {
    const byParent = Map.groupBy(flow.nodes, (node) => node.parentId ?? '');
    for (const [parentId, siblings] of byParent) {
      const boxes = siblings.map(boxOf);
      const parent = flow.nodes.find(({ id }) => id === parentId);
      for (const [index, box] of boxes.entries()) {
        for (const other of boxes.slice(index + 1))
          expect(overlap(box, other), `${box.id}, ${other.id}`).toBe(false);
        if (parent !== undefined) expect(isInside(box, boxOf(parent)), box.id).toBe(true);
      }
    }
  });

  it.each(templates)('$id: has a README that says how to import it', async ({ id, setup }) => {
    const readme = await readFile(new URL(`../../../../examples/${id}/README.md`, import.meta.url), 'utf8');
    expect(readme).toContain(`millrace templates import ${id}`);
    expect(readme).toContain('```mermaid');
    for (const step of setup) expect(readme).toContain(step.var);
  });
});

interface Box {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Approximate size of a node in the editor, except loops, which have their own size. */
const USUAL = { width: 180, height: 70 };

function boxOf(node: FlowNode): Box {
  const { width, height } = { ...USUAL, ...(node as Partial<Box>) };
  return { id: node.id, x: node.position?.x ?? Number.NaN, y: node.position?.y ?? Number.NaN, width, height };
}

function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** Positions in a loop are relative to its corner. */
function isInside(box: Box, loop: Box): boolean {
  return box.x >= 0 && box.y >= 0 && box.x + box.width <= loop.width && box.y + box.height <= loop.height;
}

function valueAt(workflow: JsonValue, pointer: string): JsonValue {
  return ['flow_data', ...pointer.slice(1).split('/')].reduce<JsonValue>((owner, name) => {
    if (Array.isArray(owner)) return owner[Number(name)] ?? null;
    return isJsonObject(owner) ? (owner[name] ?? null) : null;
  }, workflow);
}

const PRODUCTS = await readFile(
  new URL('../../../../examples/product-search/products.sql', import.meta.url),
  'utf8',
);

/** Trigger data for scheduled workflows. */
const FIRED: JsonObject = {
  scheduled_at: '2026-11-21T07:00:00.000Z',
  timezone: 'Europe/Berlin',
  fire_number: 1,
  missed: false,
  input: {},
};

/** A feed that also has what the page watch looks for. */
const PAGE = `<rss version="2.0"><channel><title>News</title><item><title>Storm</title>
  <link>https://news.example.com/storm</link><pubDate>${new Date().toUTCString()}</pubDate><description>Gale</description>
  <price class="price">12</price></item></channel></rss>`;

describe('in test mode', () => {
  let world: World;
  let reached: Reached;
  beforeAll(async () => {
    world = await openWorld();
    reached = await reachServices(world);
    world.outside.on('GET /v1/people', { body: { score: 91 } });
    world.outside.on('GET /customers', { body: { customers: [{ id: 1 }], next_page: null } });
    world.outside.on('GET /', { body: PAGE });
    world.outside.on('GET /orders/*', { body: { state: 'shipped', total: '84.50 EUR' } });
    world.outside.on('GET /www.googleapis.com/*', {
      body: 'sound',
      headers: { 'content-type': 'audio/mp4' },
    });
    world.outside.on('GET /sheets.googleapis.com/*', { body: {} });
    world.outside.on('POST /api.notion.com/*', { body: { results: [], next_cursor: null } });
    world.outside.on('GET /api.stripe.com/*', {
      body: {
        status: 'requires_payment_method',
        amount: 100,
        currency: 'eur',
        receipt_email: 'ada@example.com',
      },
    });
    world.outside.on('GET /stock', { body: { stock: [{ sku: 'BUOY-1', expected: 3 }] } });
  });
  afterAll(async () => {
    await reached.stop();
    await world.close();
  });

  /** Test values of a template's variables. */
  async function variablesFor(template: Template): Promise<JsonObject> {
    const vars: { [name: string]: JsonValue } = {};
    for (const { var: name, credential } of template.setup) {
      if (credential !== undefined) vars[name] = await addCredential(credential, name);
      else if (name.endsWith('_url')) vars[name] = world.outside.url;
    }
    if (template.id === 'uptime-check') vars.sites = [world.outside.url];
    return vars;
  }

  /** What the template is started with: its samples, or what its trigger would give it. */
  async function inputsFor({ samples, workflow }: Template): Promise<readonly JsonValue[]> {
    const { nodes } = (workflow as { flow_data: unknown }).flow_data as Flow;
    const withFiles = nodes.some(
      ({ type, data }) => type === 'trigger.email' && data?.config?.attachments !== false,
    );
    const attachments = withFiles ? { attachments: [await addFile({ accept: '.pdf' })] } : {};
    if (samples.length > 0) return samples.map(({ data }) => ({ ...(data as JsonObject), ...attachments }));
    const form = nodes.find(({ type }) => type === 'trigger.form')?.data?.config?.fields ?? [];
    const values: { [name: string]: JsonValue } = {};
    for (const field of form as readonly JsonObject[]) {
      values[textOf(field.name)] = field.type === 'file' ? await addFile(field) : 'ada@example.com';
    }
    const photos = nodes.some(({ data }) => data?.config?.body === 'files')
      ? { photos: await addFile({}) }
      : {};
    return [{ ...FIRED, ...values, ...photos }];
  }

  const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

  async function addFile({ accept }: JsonObject): Promise<JsonValue> {
    if (accept === undefined) return store('file.png', pngFile(2, 2), 'image/png');
    if (accept === '.pdf')
      return store('file.pdf', new Uint8Array(pdfFile(['Invoice 17'])), 'application/pdf');
    return store('file.csv', 'sku,counted\nBUOY-1,2\n', 'text/csv');
  }

  async function store(
    name: string,
    raw: string | Uint8Array<ArrayBuffer>,
    type: string,
  ): Promise<JsonValue> {
    const headers = { 'content-type': type };
    const stored = await world.service.api('POST', `/files?name=${name}`, { key: world.key, raw, headers });
    expect(stored.status, stored.text).toBe(201);
    return parseJson(stored.text);
  }

  /** One of the first of these types that needs nobody's consent. */
  async function addCredential(types: readonly string[], name: string): Promise<number> {
    const server = { host: '127.0.0.1', username: 'ada', password: 'not-a-real-one' };
    const type = types.includes('bearer') ? 'bearer' : types[0];
    switch (type) {
      case 'bearer':
        return world.addToken('*');
      case 'basic':
        return world.addCredential('basic', { username: 'ada', password: 'not-a-real-one' }, ['*']);
      case 'header':
        return world.addCredential('header', { name: 'X-Key', value: 'not-a-real-one' }, ['*']);
      case 'chat':
        return world.addChat('team');
      case 'smtp':
        return world.addMail();
      case 'sql': {
        if (name === 'mongodb_credential')
          return world.addCredential('sql', { ...server, dialect: 'mongodb', database: 'shop' });
        const { id, db } = await world.addDatabase();
        await createOrders(db);
        await db.query(PRODUCTS);
        return id;
      }
      case 'mqtt':
      case 'redis':
        return world.addCredential(type, server);
      case 'kafka': {
        const { username, password } = server;
        return world.addCredential('kafka', { brokers: '127.0.0.1', username, password });
      }
      case 'aws': {
        const keys = { access_key_id: 'AKIDTEST', secret_access_key: 'not-a-real-one' };
        return world.addCredential('aws', keys, ['*']);
      }
      case 'imap': {
        const fields = { host: 'imap.example.com', username: 'support', password: 'not-a-real-one' };
        return world.addCredential('imap', fields);
      }
      case 'secret':
        return world.addCredential('secret', { value: 'whsec_c2lnbmVkLWFuZC1zZWFsZWQ=' });
      default:
        expect(type).toBe('ai');
        return world.addCredential('ai', { base_url: world.outside.url, api_key: 'key' });
    }
  }

  it.each(templates)('$id: is imported, activated and run, and sends nothing', async (template) => {
    world.outside.forget();
    const vars = await variablesFor(template);
    const imported = await world.importExample(template.id, vars, { status: 'active', is_test_mode: true });
    for (const input of await inputsFor(template)) {
      const execution = await world.settled(await world.execute(imported.id, input));
      expect(execution.is_test_mode).toBe(true);
      expect(Object.values(statusesOf(execution))).not.toContain('failed');
      expect(execution.error).toBeUndefined();
      for (const [nodeId, record] of Object.entries(execution.node_outputs)) {
        if (record.status !== 'success' || !sendsSomething(template, nodeId)) continue;
        expect(record.output.dry_run, nodeId).toBe(true);
        expect(record.output.request, nodeId).toBeTypeOf('object');
      }
    }
    expect(world.outside.received.filter(({ line }) => !READS.test(line))).toEqual([]);
    expect(world.mail.received).toEqual([]);
  });
});

/** Operations and triggers of services, by their types. */
const connectorTypes = new Map(connectorNodes.map((each) => [each.node.type, each]));

/** Requests that change nothing. */
const READS = /^GET |^POST \/api\.notion\.com\/v1\/databases\/[\w-]+\/query$/;

/** Types that call out even for reads only, or that affect nothing but time. */
const HARMLESS = new Set([
  ...['core.delay', 'wait.callback', 'wait.approval', 'flow.call', 'webhook.respond'],
  ...['data.feed', 'file.pdf_text', 'file.read', 'file.write', 'file.image', 'file.zip', 'core.crypto'],
]);

function sendsSomething({ workflow }: Template, nodeId: string): boolean {
  const { nodes } = (workflow as { flow_data: unknown }).flow_data as Flow;
  const node = nodes.find(({ id }) => id === nodeId);
  if (node === undefined || registry(node.type)?.kind !== 'effect' || HARMLESS.has(node.type)) return false;
  const config = node.data?.config ?? {};
  const known = connectorTypes.get(node.type);
  if (known !== undefined) return known.kind === 'operation' && known.operation.effect;
  if (node.type === 'http.request') return (config.method ?? 'GET') !== 'GET';
  if (node.type === 'data.store') return config.operation !== 'get' && config.operation !== 'list';
  if (node.type === 'sql.query') return config.read_only === false;
  return true;
}
