import type { FlowProblem } from '@millrace/admin-api';
import { message } from '@millrace/messages';
import { presentMessage } from '@millrace/messages/english';
import { expect, test } from 'vitest';
import type { KnownType } from './editor-state.ts';
import { problemText } from './problem-text.ts';

const TYPE = {
  config_schema: {
    properties: {
      url: { title: 'URL' },
      cases: {
        title: 'Cases',
        anyOf: [{ type: 'string' }, { items: { title: 'Case', properties: { name: { title: 'Name' } } } }],
      },
      hidden: {},
    },
  },
} as unknown as KnownType;

function problemAt(path: string): FlowProblem {
  const problem = message('flow.at_value', { path, fault: message('flow.no_value') });
  const whole = message('flow.at_node', { node: 'request', problem });
  return { ...presentMessage(whole), pointer: '', code: 'invalid', node_id: 'request' } as FlowProblem;
}

test.each([
  ['url', '"URL" is empty; fill it in'],
  ['cases.1.name', '"Cases 2 › Name" is empty; fill it in'],
  ['hidden', '"hidden" is empty; fill it in'],
  ['url.other', '"url.other" is empty; fill it in'],
])('a problem of %s is told as its form calls it', (path, text) => {
  expect(problemText(problemAt(path), TYPE)).toBe(text);
});

test('without the type of the node, settings are called as in its config', () => {
  expect(problemText(problemAt('url'))).toBe('"url" is empty; fill it in');
});
