import { connectorNodes } from '@millrace/connectors/connectors';
import {
  type Flow,
  findProblems,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  type NodeDefinition,
  type NodeExample,
} from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import type { FormLayout } from '@millrace/node-kit/define';
import { runNode, TEST_NOW_MS } from '@millrace/node-kit/testing';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import { createRegistry, nodes, OPERATORS, registry } from './catalogue.ts';
import { loopFlow, runLoop } from './testing-loop.ts';

describe('the catalogue', () => {
  it('finds each node by its type and nothing else', () => {
    for (const node of nodes) expect(registry(node.type)).toBe(node);
    for (const type of ['', 'core', 'constructor', '__proto__']) expect(registry(type)).toBeUndefined();
  });

  it('refuses two nodes of one type', () => {
    const [first] = nodes;
    if (first === undefined) throw new Error('the catalogue is empty');
    expect(() => createRegistry([...nodes, { ...first }])).toThrow(`two nodes have the type ${first.type}`);
  });
});

/** The values of all choices in a schema, with the labels they are shown by. */
function choicesOf(schema: JsonValue): readonly { readonly value: string; readonly labels: object }[] {
  if (Array.isArray(schema)) return schema.flatMap(choicesOf);
  if (typeof schema !== 'object' || schema === null) return [];
  const { enum: values, 'x-labels': labels, ...others } = schema as JsonObject;
  const own =
    Array.isArray(values) && values.length > 1 ? values.filter((each) => typeof each === 'string') : [];
  return [
    ...own.map((value) => ({ value, labels: (labels ?? {}) as object })),
    ...Object.entries(others)
      .filter(([keyword]) => keyword !== 'default' && keyword !== 'examples')
      .flatMap(([, part]) => choicesOf(part as JsonValue)),
  ];
}

const operations = connectorNodes.map(({ node }) => node);

describe.each([...nodes, ...operations])('$type', (node) => {
  it('describes itself', () => {
    expect(node.title).not.toBe('');
    expect(node.description).toMatch(/\.$/);
    expect(node.icon).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(node.examples.length).toBeGreaterThan(0);
  });

  it('names the values of its choices, unless they are names or operators', () => {
    const unnamed = choicesOf(node.configSchema as unknown as JsonValue).filter(
      ({ value, labels }) =>
        !Object.hasOwn(labels, value) && !/^[A-Z]+$/.test(value) && !OPERATORS.includes(value as never),
    );
    expect(unnamed.map(({ value }) => value)).toEqual([]);
  });

  it('shows every property in exactly one place of its form', () => {
    const { main, sections = [] } = node.configSchema['x-form'] as unknown as FormLayout;
    const shown = [...main, ...sections.flatMap(({ fields }) => fields)];
    expect(shown.toSorted()).toEqual(Object.keys(node.configSchema.properties ?? {}).toSorted());
    // What must be filled in is never behind a section.
    expect(main).toEqual(expect.arrayContaining([...((node.configSchema.required ?? []) as string[])]));
    for (const { title, fields } of sections) {
      expect(title).toMatch(/^[A-Z]/);
      expect(title).not.toMatch(/\b(?:more|other settings|advanced)\b/i);
      expect(fields.length).toBeGreaterThan(0);
    }
  });

  it('is found by other words, each once and in lower case', () => {
    const { synonyms = [] } = node;
    expect(synonyms.length).toBeGreaterThan(1);
    expect(new Set(synonyms).size).toBe(synonyms.length);
    for (const word of synonyms) expect(word).toBe(word.toLowerCase().trim());
  });

  it('explains its settings to people, not to programs', () => {
    const { title, description, examples, configSchema } = node;
    const texts = [title, description, ...examples.map((example) => example.title), ...wordsOf(configSchema)];
    expect(texts.length).toBeGreaterThan(2);
    // Some services call what their records have properties.
    const known = operations.includes(node) ? texts.map((text) => text.replaceAll('properties', '')) : texts;
    expect(known.filter((text) => TECHNICAL.test(text))).toEqual([]);
  });

  it('calls its choices by their labels, not by their values', () => {
    const explained = propertiesOf(node.configSchema, '').flatMap(([path, schema]) =>
      [schema, ...((schema.anyOf ?? []) as JsonSchema[])]
        .flatMap((each) => (each.enum ?? []) as readonly JsonValue[])
        .filter((value) => typeof value === 'string')
        .filter((value) => /^[a-z]/.test(value))
        .filter((value) => new RegExp(`(?:^|[.;] )${value}\\b`).test(String(schema.description)))
        .map((value) => `${path}: ${value}`),
    );
    expect(explained).toEqual([]);
  });

  it('gives every property a title, a description and a valid default', () => {
    const properties = propertiesOf(node.configSchema, '');
    for (const [path, schema] of properties) {
      expect(schema.title, path).toEqual(expect.any(String));
      expect(schema.description, path).toEqual(expect.any(String));
      expect(Object.hasOwn(schema, 'default'), path).toBe(true);
      expect(Compile(schema).Check(schema.default), path).toBe(true);
    }
  });

  it('marks what must not be empty', () => {
    const unmarked = objectsOf(node.configSchema).flatMap(({ properties = {}, required = [] }) =>
      Object.entries(properties as { [name: string]: JsonSchema }).flatMap(([name, schema]) => {
        const isNeeded = (required as readonly string[]).includes(name);
        const isEmpty = schema.default === '' || schema['x-credential'] !== undefined;
        return isNeeded && isEmpty && schema['x-filled'] !== true ? [name] : [];
      }),
    );
    expect(unmarked.filter((name) => !MAY_BE_EMPTY.has(`${node.type} ${name}`))).toEqual([]);
  });

  it('reports what to fill in when dropped onto the canvas', () => {
    const { properties, required = [] } = node.configSchema;
    const config = Object.fromEntries(
      (required as readonly string[]).map((name) => [
        name,
        (properties as { [name: string]: { default: JsonValue } })[name]?.default ?? null,
      ]),
    );
    const flow: Flow = {
      nodes: [
        { id: 'start', type: 'trigger.manual' },
        { id: 'node', type: node.type, data: { config } },
      ],
      edges: [{ source: 'start', target: 'node' }],
    };
    const problems = findProblems(flow, registry).filter(({ code }) => code === 'empty_config');
    expect(problems.map(({ pointer }) => pointer.replace('/flow_data/nodes/1/data/config/', ''))).toEqual(
      operations.includes(node) ? emptyOf(node) : (TO_FILL_IN[node.type] ?? []),
    );
  });

  it('accepts no unknown property, at any depth', () => {
    for (const schema of objectsOf(node.configSchema)) {
      if (schema.properties !== undefined) expect(schema.additionalProperties).toBe(false);
    }
  });

  it('refuses an unknown setting by name', async () => {
    const config = { ...node.examples[0]?.config, colour: 'red' };
    const { result } = await runNode(node, { config, trigger: {} });
    expect(result).toMatchObject({
      kind: 'failure',
      code: 'invalid_config',
      message: saying('colour'),
    });
  });

  it('has handles for any config', () => {
    const odd: JsonValue[] = [
      null,
      1,
      'x',
      [],
      {},
      [null, 1, { name: 7 }, { name: '__proto__' }, { name: 'a' }],
    ];
    const configs: JsonObject[] = odd.flatMap((value) => [
      { cases: value },
      { mode: value },
      { config: value },
    ]);
    for (const config of [{}, ...configs]) {
      const handles = node.handles?.(config) ?? ['out'];
      expect(new Set(handles).size).toBe(handles.length);
      expect(handles.length).toBeGreaterThan(0);
      expect(handles).not.toContain('error');
    }
  });

  it.each(node.examples)('can be activated with its example: $title', ({ config, inputs = {} }) => {
    if (node.kind === 'loop') {
      expect(findProblems(loopFlow(node, config), registry)).toEqual([]);
      return;
    }
    const isTrigger = node.kind === 'trigger';
    const before = isTrigger ? [] : ['start', ...Object.keys(inputs)];
    const flow: Flow = {
      nodes: [
        ...before.map((id, index) => ({
          id,
          type: index === 0 ? 'trigger.manual' : 'core.set',
          data: { config: {} },
        })),
        { id: 'node', type: node.type, data: { config } },
      ],
      edges: before.flatMap((id, index) => [
        ...(index === 0 ? [] : [{ source: 'start', target: id }]),
        { source: id, target: 'node' },
      ]),
    };
    const codes = findProblems(flow, registry).map(({ code }) => code);
    // A placeholder is there to be replaced.
    expect(codes).toEqual(node.type === 'core.placeholder' ? ['placeholder'] : []);
  });

  // Recorded exchanges run against a server: connectors/exchanges.test.ts; Python runs in its sandbox: ports/test/code.test.ts.
  const isHere = ({ config }: NodeExample): boolean => (config as JsonObject).language !== 'python';
  it.each(operations.includes(node) ? [] : node.examples.filter(isHere))(
    'runs its example: $title',
    (example) => runExample(node, example),
  );
});

/** The required settings of an operation that have no default. */
function emptyOf({ configSchema: { properties, required } }: NodeDefinition): readonly string[] {
  const settings = properties as { readonly [name: string]: JsonSchema };
  return Object.keys(settings)
    .filter((name) => (required as readonly string[]).includes(name))
    .filter((name) => settings[name]?.['x-filled'] === true);
}

/** Names from schemas and settings, which forms don't show. */
const TECHNICAL = /\bnull\b|\b(?:additionalP|p)roperties\b|\w_type\b|\bhmac\b|\bundefined\b/;

/** Every text of a schema that forms show: titles, help, labels, placeholders, sections. */
function wordsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]: [string, unknown]) => {
    if (['title', 'description', 'x-placeholder'].includes(keyword))
      return typeof value === 'string' ? [value] : wordsOf(value);
    if (keyword === 'x-labels') return Object.values(value as { readonly [name: string]: string });
    return ['default', 'const', 'enum', 'examples', 'x-starts'].includes(keyword) ? [] : wordsOf(value);
  });
}

/** Required members that may nevertheless be empty. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set([
  ...['http.request password', 'trigger.poll password', 'wait.callback password', 'wait.approval password'],
  ...[
    'chat.notify label',
    'chat.notify value',
    'chat.notify url',
    'ai.agent description',
    'ai.agent password',
  ],
  ...['ai.classify description', 'ai.extract description'],
  // A page has no name; what else lacks one is a fault.
  ...['trigger.form name', 'trigger.form label', 'wait.approval name', 'wait.approval label'],
]);

/** By type, what is empty before anything has been filled in. */
const TO_FILL_IN: { readonly [type: string]: readonly string[] } = {
  'trigger.chat': ['title'],
  'trigger.form': ['title'],
  'trigger.rss': ['url'],
  'trigger.poll': ['url'],
  'trigger.email': ['credential_id'],
  'trigger.redis': ['credential_id', 'stream'],
  'trigger.mqtt': ['credential_id', 'topics'],
  'trigger.kafka': ['credential_id', 'topics'],
  'trigger.postgresql': ['credential_id', 'channels'],
  'trigger.sqs': ['credential_id', 'queue_url'],
  'core.if': ['conditions/0/left'],
  'core.switch': ['cases/0/conditions/0/left'],
  'core.filter': ['items'],
  'core.for_each': ['items'],
  'core.repeat': ['until/0/left'],
  'core.data': ['data'],
  'core.delay': ['duration_ms'],
  'wait.callback': ['request/url'],
  'flow.call': ['workflow_id'],
  'http.request': ['url'],
  'http.webhook_output': ['url', 'credential_id'],
  'data.html': ['html'],
  'data.markdown': ['text'],
  'data.xml': ['xml'],
  'data.feed': ['url'],
  'file.read': ['file'],
  'file.pdf_text': ['file'],
  'file.image': ['file'],
  'file.zip': ['files'],
  'data.store': ['key'],
  'chat.notify': ['credential_id', 'text'],
  'email.send': ['credential_id', 'from', 'subject', 'to', 'text'],
  'sql.query': ['credential_id', 'query'],
  'data.redis': ['credential_id', 'key'],
  'data.mongodb': ['credential_id', 'collection'],
  'data.kafka': ['credential_id', 'topic', 'messages'],
  'ai.generate': ['credential_id', 'model', 'prompt'],
  'ai.classify': ['credential_id', 'model', 'text'],
  'ai.extract': ['credential_id', 'model', 'text', 'fields'],
  'ai.agent': ['credential_id', 'model', 'prompt'],
  'ai.embed': ['credential_id', 'model', 'texts'],
  'ai.split': ['text'],
  'ai.vectors': ['collection', 'credential_id', 'model', 'query'],
};

async function runExample(node: NodeDefinition, example: NodeExample): Promise<void> {
  const result = node.kind === 'loop' ? await runLoop(node, example) : (await runNode(node, example)).result;
  const { expect: expected } = example;
  if ('failure' in expected) {
    expect(result).toMatchObject({ kind: 'failure', ...expected.failure });
    return;
  }
  if ('waitMs' in expected) {
    expect(result).toEqual({ kind: 'wait', untilMs: TEST_NOW_MS + expected.waitMs, output: expected.output });
    return;
  }
  if ('awaitsSignal' in expected) {
    expect(result).toMatchObject({ kind: 'await_signal', output: expected.output });
    expect('resume' in node).toBe(true);
    return;
  }
  if ('stops' in expected) {
    expect(result).toEqual({ kind: 'stop', output: expected.output });
    return;
  }
  const handles = expected.handles ?? ['out'];
  expect(result).toEqual({
    kind: 'success',
    output: expected.output,
    handles,
    consumedAiTokens: expected.consumedAiTokens ?? 0,
  });
  const declared = node.handles?.(example.config) ?? ['out'];
  for (const handle of handles) expect(declared).toContain(handle);
}

/** Every named property of a schema with its path, through lists and alternatives. */
function propertiesOf(schema: JsonSchema, path: string): [string, JsonSchema][] {
  return objectsOf(schema).flatMap((object) =>
    Object.entries((object.properties ?? {}) as { [name: string]: JsonSchema }).map(
      ([name, property]): [string, JsonSchema] => [`${path}/${name}`, property],
    ),
  );
}

/** All object schemas within a schema, including itself. */
function objectsOf(schema: JsonSchema): JsonSchema[] {
  const inner: JsonSchema[] = [
    ...Object.values((schema.properties ?? {}) as { [name: string]: JsonSchema }),
    ...((schema.anyOf ?? []) as JsonSchema[]),
    ...(schema.items === undefined ? [] : [schema.items as JsonSchema]),
  ];
  return [...(schema.type === 'object' ? [schema] : []), ...inner.flatMap(objectsOf)];
}
