import { findProblems, type JsonObject } from '@millrace/engine';
import type { ImportResult } from '@millrace/importer';
import { registry } from '@millrace/nodes';
import { expect, test } from 'vitest';
import { n8n, read } from '../testing.ts';

const DOWNLOAD = {
  type: 'n8n-nodes-base.httpRequest',
  version: 4.2,
  parameters: {
    url: 'https://example.com/file',
    options: { response: { response: { responseFormat: 'file' } } },
  },
};

/** Imports a download, these nodes after each other, and a node that reads the last one's item. */
function imported(
  nodes: readonly (readonly [kind: string, parameters: object])[],
  value: string,
): ImportResult {
  const made = nodes.map(([kind, parameters], at): [string, object] => [
    `Node ${at}`,
    { type: `n8n-nodes-base.${kind}`, version: 1, parameters },
  ]);
  const names = ['Start', 'Download', ...made.map(([name]) => name), 'Keep'];
  const set = { mode: 'manual', assignments: { assignments: [{ name: 'a', type: 'string', value }] } };
  return read(
    n8n(
      {
        Start: { type: 'n8n-nodes-base.manualTrigger', version: 1, parameters: {} },
        Download: DOWNLOAD,
        ...Object.fromEntries(made),
        Keep: { type: 'n8n-nodes-base.set', version: 3.4, parameters: set },
      },
      names.slice(1).map((name, at) => [names[at] ?? '', name]),
    ),
  );
}

type Made = { readonly type: string; readonly data: { readonly config?: JsonObject } };
function configs({ workflow }: ImportResult): { readonly [type: string]: JsonObject | undefined } {
  const flow = workflow?.flow_data as { readonly nodes: readonly Made[] };
  const problems = findProblems(workflow?.flow_data as never, registry).map(({ code }) => code);
  expect(problems.filter((code) => code !== 'placeholder')).toEqual([]);
  return Object.fromEntries(flow.nodes.map(({ type, data }) => [type, data.config]));
}

test('operations on an image are one node, if they come in its order', () => {
  const steps = [
    { operation: 'crop', width: 100, height: 80, positionX: 5 },
    { operation: 'rotate', rotate: -90 },
    { operation: 'resize', width: 50, height: 50, resizeOption: 'ignoreAspectRatio' },
  ];
  const many = {
    operation: 'multiStep',
    operations: { operations: steps },
    options: { format: 'jpg', quality: 70 },
  };
  expect(configs(imported([['editImage', many]], 'x'))['file.image']).toMatchObject({
    crop_x: 5,
    crop_y: 0,
    crop_width: 100,
    crop_height: 80,
    rotate: '270',
    width: 50,
    height: 50,
    fit: 'stretch',
    format: 'jpeg',
    quality: 70,
  });
});

test('an image goes from one node to the next, and its size is read', () => {
  const nodes = [
    ['editImage', { operation: 'resize', width: 10, height: 10 }],
    ['editImage', { operation: 'information' }],
  ] as const;
  const made = configs(imported(nodes, '={{ $json.size.width }}'));
  expect(made['file.image']).toMatchObject({
    operation: 'info',
    file: expect.stringMatching(/\.output\.file\}\}$/),
  });
  expect(made['core.set']).toMatchObject({ values: { a: expect.stringMatching(/\.output\.width\b/) } });
});

test.each([
  [
    'another order',
    { operation: 'multiStep', operations: { operations: [{ operation: 'resize' }, { operation: 'crop' }] } },
  ],
  ['drawing', { operation: 'text', text: 'Hello' }],
  ['an angle', { operation: 'rotate', rotate: 45 }],
  ['percent', { operation: 'resize', resizeOption: 'percent' }],
])('what the node cannot do becomes a placeholder: %s', (_what, parameters) => {
  const made = configs(imported([['editImage', parameters]], 'x'));
  expect(Object.keys(made)).not.toContain('file.image');
});
