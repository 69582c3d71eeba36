import { findProblems } from '@millrace/engine';
import { registry } from '@millrace/nodes';
import { expect, it } from 'vitest';
import { configOf, flowOf, n8n, read, START } from './testing.ts';

it('a list that is read again after its loop gets a loop of its own, not one that waits for itself', () => {
  const result = read(
    n8n(
      {
        Start: START,
        List: { type: 'code', version: 2, parameters: { jsCode: 'return [{ a: 1 }, { a: 2 }];' } },
        Call: {
          type: 'httpRequest',
          version: 4.2,
          parameters: { url: '=https://www.example.com/{{ $json.a }}' },
        },
        Both: { type: 'merge', version: 3, parameters: { mode: 'chooseBranch', useDataOfInput: 2 } },
        Again: {
          type: 'httpRequest',
          version: 4.2,
          parameters: { url: '=https://www.example.com/{{ $json.a }}/b' },
        },
      },
      [
        ['Start', 'List'],
        ['List', 'Call'],
        ['List', 'Both'],
        ['Call', 'Both'],
        ['Both', 'Again'],
      ],
    ),
  );
  expect(configOf(result, 'For each: Again')).toBeDefined();
  expect(findProblems(flowOf(result), registry)).toEqual([]);
});
