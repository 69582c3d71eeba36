import { verbatim } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { saying } from '@millrace/messages/testing';
import { describe, expect, it } from 'vitest';
import {
  compile,
  defineNode,
  type Flow,
  findProblems,
  type JsonObject,
  type JsonValue,
  type NodeDefinition,
} from '../src/index.ts';

const base = { description: 'For tests.', icon: 'box', examples: [] };
const start = defineNode({
  ...base,
  type: 'test.start',
  title: 'Start',
  kind: 'trigger',
  configSchema: { type: 'object' },
  run: () => {
    throw new Error('triggers do not run');
  },
});
const url = { type: 'string', default: '', 'x-filled': true, 'x-url': true };
const send = defineNode({
  ...base,
  type: 'test.send',
  title: 'Send',
  kind: 'effect',
  configSchema: {
    type: 'object',
    properties: {
      url,
      credential_id: {
        type: 'integer',
        minimum: 0,
        default: 0,
        'x-credential': ['bearer'],
        'x-filled': true,
      },
      workflow_id: { type: 'integer', default: 1, 'x-workflow': true },
      mode: { type: 'string', enum: ['text', 'json'], default: 'text' },
      text: { type: 'string', default: '', 'x-filled': true, 'x-when': { mode: ['text'] } },
      schema: { type: 'object', default: {}, 'x-json-schema': true, 'x-when': { mode: ['json'] } },
      auth: {
        anyOf: [
          { type: 'object', properties: { type: { const: 'none' } }, required: ['type'] },
          {
            type: 'object',
            properties: {
              type: { const: 'token' },
              token: { type: 'string', default: '', 'x-filled': true },
            },
            required: ['type', 'token'],
          },
          { type: 'null' },
        ],
      },
      steps: { type: 'array', items: { type: 'object', properties: { left: { 'x-filled': true } } } },
      tool: {
        type: 'object',
        properties: { type: { type: 'string' }, config: { type: 'object', 'x-node-config': 'type' } },
      },
    },
    required: ['url'],
  },
  deferred: { tool: 'arguments' },
  findGaps: ({ workflow_id }) =>
    workflow_id === 13 ? [{ pointer: '/workflow_id', message: verbatim('brings bad luck') }] : [],
  run: () => {
    throw new Error('is not run here');
  },
});

const DEFINITIONS: { readonly [type: string]: NodeDefinition } = { 'test.start': start, 'test.send': send };

function flowOf(config: JsonObject, settings: JsonObject = {}): Flow {
  return {
    nodes: [
      { id: 'start', type: 'test.start' },
      { id: 'a', type: 'test.send', data: { config } },
    ],
    edges: [{ source: 'start', target: 'a' }],
    settings,
  };
}

const registry = (type: string) => DEFINITIONS[type];
const GOOD = { url: 'https://example.com', credential_id: 3, text: 'x' };

function gapsOf(config: JsonObject, settings?: JsonObject): string[] {
  const flow = flowOf({ ...GOOD, ...config }, settings);
  return findProblems(flow, registry).map(
    ({ pointer, code, message }) =>
      `${pointer.replace('/flow_data/nodes/1/data/config/', '')} ${code} ${inEnglish(message).replace(/^"a": /, '')}`,
  );
}

describe('gaps in a config', () => {
  it('P15: members that are required and empty', () => {
    expect(gapsOf({})).toEqual([]);
    for (const empty of ['', '  \n']) {
      expect(gapsOf({ url: empty })).toEqual(['url empty_config "url" is empty; fill it in']);
    }
    expect(gapsOf({ credential_id: 0 })).toEqual([
      'credential_id empty_config "credential_id" selects no credential; choose one',
    ]);
    // An optional member is still required, because its default is empty.
    const { text: _left, ...without } = GOOD;
    expect(findProblems(flowOf(without), registry).map(({ code }) => code)).toEqual(['empty_config']);
    expect(gapsOf({ workflow_id: 0 })).toEqual([]);
    expect(gapsOf({ workflow_id: 13 })).toEqual(['workflow_id empty_config "workflow_id" brings bad luck']);
  });

  it('P15: what is missing or invalid is reported once', () => {
    expect(gapsOf({ url: 7, credential_id: null }).map((gap) => gap.split(' ', 2).join(' '))).toEqual([
      'url invalid_config',
      'credential_id invalid_config',
    ]);
  });

  it('P15: in lists and in the chosen alternative', () => {
    expect(gapsOf({ steps: [{ left: '{{trigger.data}}' }, { left: '' }, {}, { left: false }] })).toEqual([
      'steps/1/left empty_config "steps.1.left" is empty; fill it in',
      'steps/2/left empty_config "steps.2.left" is empty; fill it in',
    ]);
    expect(gapsOf({ auth: { type: 'token', token: '' } })).toEqual([
      'auth/token empty_config "auth.token" is empty; fill it in',
    ]);
    expect(gapsOf({ auth: { type: 'none' } })).toEqual([]);
    expect(gapsOf({ auth: null })).toEqual([]);
    expect(gapsOf({ auth: '{{trigger.data.auth}}' })).toEqual([]);
  });

  it('P15: members made irrelevant by others are not checked', () => {
    expect(gapsOf({ text: '', mode: 'json' })).toEqual([]);
    expect(gapsOf({ text: '', mode: 'text' })).toHaveLength(1);
  });

  it('P15: a template is not empty, but a constant may be', () => {
    expect(gapsOf({ url: '{{trigger.data.url}}', credential_id: '{{trigger.data.id}}' })).toEqual([]);
    const at = (vars: JsonObject): string[] =>
      gapsOf({ url: '{{vars.base}}/x', credential_id: '{{ vars.who }}', text: '{{vars.text}}' }, { vars });
    expect(at({ base: 'https://example.com', who: 7, text: 'x' })).toEqual([]);
    const behind = `in the workflow's settings`;
    expect(at({ base: '', who: 0, text: null })).toEqual([
      `url empty_config "url" is empty; give the constant "base" a value ${behind}`,
      `credential_id empty_config "credential_id" selects no credential; choose one for the constant "who" ${behind}`,
      `text empty_config "text" is empty; give the constant "text" a value ${behind}`,
    ]);
    // Only a URL must start with something; a filter may turn nothing into something.
    expect(gapsOf({ text: '{{vars.text}}!' }, { vars: { text: '' } })).toEqual([]);
    expect(gapsOf({ url: '{{vars.base | default: "https://example.com"}}' }, { vars: { base: '' } })).toEqual(
      [],
    );
  });

  it('P14: schemas, at the invalid keyword, while they are relevant', () => {
    const schema: JsonValue = { properties: { a: { type: 'strin' } }, $ref: '#/$defs/x' };
    expect(gapsOf({ schema })).toEqual([]);
    expect(gapsOf({ schema, mode: 'json' }).map((gap) => gap.split(' ', 3).join(' '))).toEqual([
      'schema/properties/a/type invalid_schema "schema.properties.a.type"',
      'schema/$ref invalid_schema "schema.$ref"',
    ]);
    expect(
      gapsOf({ schema: { type: '{{trigger.data.type}}', enum: '{{trigger.data.all}}' }, mode: 'json' }),
    ).toEqual([]);
    expect(gapsOf({ schema: '{{vars.s}}', mode: 'json' }, { vars: { s: { type: 'strin' } } })).toHaveLength(
      1,
    );
    const problems = findProblems(flowOf(GOOD, { input_schema: { required: 'name' } }), registry);
    expect(problems).toEqual([
      {
        pointer: '/flow_data/settings/input_schema/required',
        node_id: null,
        code: 'invalid_schema',
        message: saying('"input_schema.required" must be a list of distinct strings'),
      },
    ]);
  });

  it("P15: a node's config inside another config is checked like its own", () => {
    const tool = (config: JsonObject) => gapsOf({ tool: { type: 'test.send', config } });
    expect(tool({ ...GOOD, url: '{{args.url}}' })).toEqual([]);
    expect(tool({ ...GOOD, url: '' })).toEqual([
      'tool/config/url empty_config "tool.config.url" is empty; fill it in',
    ]);
    expect(tool({ ...GOOD, mode: 'fast', tool: { type: 'test.send', config: {} } })).toEqual([
      'tool/config/mode invalid_config "tool.config.mode" must be one of text, json',
      'tool/config/tool/config/url missing_config "tool.config.tool.config.url" is required',
      'tool/config/tool/config/credential_id empty_config "tool.config.tool.config.credential_id" selects no credential; choose one',
      'tool/config/tool/config/text empty_config "tool.config.tool.config.text" is empty; fill it in',
    ]);
  });

  it("P9 P16: gaps don't keep an execution from running; the first other problem does", () => {
    const run = (config: JsonObject, settings?: JsonObject) =>
      compile(flowOf(config, settings) as JsonValue, registry);
    const lacking = { ...GOOD, url: '', credential_id: 0, tool: { type: 'test.send', config: {} } };
    expect(run(lacking, { input_schema: { type: 'strin' } }).kind).toBe('plan');
    expect(run({ ...lacking, mode: 'fast' })).toMatchObject({
      kind: 'invalid',
      problem: { code: 'invalid_config', pointer: '/flow_data/nodes/1/data/config/mode' },
    });
  });
});
