import { findProblems, type JsonObject } from '@millrace/engine';
import { registry } from '@millrace/nodes';
import { expect, it } from 'vitest';
import { configOf, flowOf, n8n, read, START } from './testing.ts';

it('a list that is read again after its loop gets a loop of its own, not one that waits for itself', () => {
  const file = n8n(
    {
      Start: START,
      List: { type: 'splitOut', version: 1, parameters: { fieldToSplitOut: 'list' } },
      Call: {
        type: 'httpRequest',
        version: 4.2,
        parameters: { url: '=https://www.example.com/{{ $json.a }}' },
      },
      Both: { type: 'merge', version: 3, parameters: { mode: 'chooseBranch' } },
      Again: {
        type: 'httpRequest',
        version: 4.2,
        parameters: { url: '=https://www.example.com/{{ $json.a }}/b' },
      },
    },
    [
      ['Start', 'List'],
      ['List', 'Call'],
      ['Call', 'Both'],
      ['Both', 'Again'],
    ],
  );
  const to = (node: string, index: number) => ({ node, type: 'main', index });
  const connections = {
    ...(file.connections as JsonObject),
    List: { main: [[to('Call', 0), to('Both', 0)]] },
    Call: { main: [[to('Both', 1)]] },
  };
  const result = read({ ...file, connections });
  expect(configOf(result, 'For each: Again')).toEqual({ items: configOf(result, 'For each: Call')?.items });
  expect(findProblems(flowOf(result), registry)).toEqual([]);
});
