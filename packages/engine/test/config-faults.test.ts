import { verbatim } from '@millrace/messages';
import { saying } from '@millrace/messages/testing';
import { describe, expect, it } from 'vitest';
import { defineNode, findProblems, type JsonObject, type NodeDefinition } from '../src/index.ts';

const asked: JsonObject[] = [];
const start: NodeDefinition = defineNode({
  type: 'test.start',
  title: 'Start',
  description: 'Begins.',
  icon: 'play',
  kind: 'trigger',
  configSchema: { type: 'object', properties: { zone: { type: 'string' } } },
  findFaults(config) {
    asked.push(config);
    return config.zone === 'Nowhere' ? [{ pointer: '/zone', message: verbatim('is no time zone') }] : [];
  },
  examples: [],
  run: () => {
    throw new Error('triggers do not run');
  },
});

const problemsOf = (config: JsonObject) =>
  findProblems(
    { nodes: [{ id: 'start', type: 'test.start', data: { label: 'Clock', config } }], edges: [] },
    () => start,
  );

describe('what a node itself finds wrong', () => {
  it('P10: is a problem at its pointer in the config', () => {
    expect(problemsOf({ zone: 'Nowhere' })).toEqual([
      {
        pointer: '/flow_data/nodes/0/data/config/zone',
        node_id: 'start',
        code: 'invalid_config',
        message: saying('"Clock": "zone" is no time zone'),
      },
    ]);
    expect(problemsOf({ zone: 'UTC' })).toEqual([]);
  });

  it("P10: is not asked about a config that doesn't match the schema", () => {
    asked.length = 0;
    expect(problemsOf({ zone: 7 }).map(({ code }) => code)).toEqual(['invalid_config']);
    expect(asked).toEqual([]);
  });
});
