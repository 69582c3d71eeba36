import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { asText } from '../read.ts';
import { configOf, n8n, outcomeOf, read, START } from '../testing.ts';

it('texts of a list are joined by what the node names, without empty ones', () => {
  const result = read(
    n8n(
      {
        Start: START,
        List: { type: 'code', version: 2, parameters: { jsCode: 'return [];' } },
        Here: {
          type: 'summarize',
          version: 1,
          parameters: {
            fieldsToSummarize: {
              values: [
                { aggregation: 'concatenate', field: 'a.b', separateBy: 'other', customSeparator: ' | ' },
                { aggregation: 'count', field: 'a' },
              ],
            },
          },
        },
      },
      [
        ['Start', 'List'],
        ['List', 'Here'],
      ],
    ),
  );
  expect(outcomeOf(result, 'Here')?.kind).toBe('mapped');
  expect(configOf(result, 'Here')?.steps).toMatchObject([
    {
      values: [
        { function: 'list', field: 'a.b', name: 'concatenated_a_b' },
        { function: 'count', field: 'a', name: 'count_a' },
      ],
    },
  ]);
  const { code, input } = configOf(result, 'Here: texts') ?? {};
  expect(input).toMatchObject({ joined: [{ name: 'concatenated_a_b', by: ' | ' }] });
  const joined = { joined: [{ name: 'x', by: ' | ' }] };
  const run = (data: object) =>
    runInNewContext(`(() => {${asText(code)}})()`, { input: { ...joined, data } }) as unknown;
  expect(run({ x: ['a', '', null, 2], n: 4 })).toEqual({ x: 'a | 2', n: 4 });
  expect(run([{ x: [{ b: 1 }] }])).toEqual([{ x: '{"b":1}' }]);
});

it.each([
  ['in the first version', { mode: 'removeKeyMatches', propertyName1: 'id', propertyName2: 'key' }, 1],
  [
    'now',
    {
      ...{ mode: 'combine', joinMode: 'keepNonMatches', outputDataFrom: 'input1' },
      mergeByFields: { values: [{ field1: 'id', field2: 'key' }] },
    },
    2.1,
  ],
])('items that the other list has are left out: %s', (_when, parameters, version) => {
  const code = { type: 'code', version: 2, parameters: { jsCode: 'return [];' } };
  const sketch = n8n({ Start: START, A: code, B: code, Here: { type: 'merge', version, parameters } }, [
    ['Start', 'A'],
    ['Start', 'B'],
    ['A', 'Here'],
  ]);
  const connections = sketch.connections as { [name: string]: object };
  connections.B = { main: [[{ node: 'Here', type: 'main', index: 1 }]] };
  const config = configOf(read({ ...sketch, connections: connections as never }), 'Here');
  const lists = [
    [{ id: 1 }, { id: 2 }],
    [{ key: 2 }, { key: 3 }],
  ];
  const input = { ...(config?.input as object), lists };
  const made = runInNewContext(`(() => {${asText(config?.code)}})()`, { input }) as unknown;
  expect(made).toEqual([{ id: 1 }]);
});
