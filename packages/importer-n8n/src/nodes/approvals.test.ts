import { findProblems } from '@millrace/engine';
import { registry } from '@millrace/nodes';
import { expect, it } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read, type Sketch, START } from '../testing.ts';

function asked(parameters: Sketch['parameters'], reads: string) {
  const here = { assignments: { assignments: [{ name: 'x', type: 'string', value: reads }] } };
  return read(
    n8n(
      {
        Start: START,
        Ask: { type: 'telegram', version: 1.2, parameters: { operation: 'sendAndWait', ...parameters } },
        Here: { type: 'set', version: 3.4, parameters: here },
      },
      [
        ['Start', 'Ask'],
        ['Ask', 'Here'],
      ],
    ),
  );
}

it('asking and waiting for a decision becomes an approval, and goes on whatever is decided', () => {
  const result = asked(
    {
      message: '=Delete {{ $json.count }} files?',
      approvalOptions: { values: { approvalType: 'double', approveLabel: 'Yes' } },
      options: { limitWaitTime: { values: { resumeUnit: 'minutes', resumeAmount: 15 } } },
    },
    '={{ $json.data.approved }}',
  );
  expect(configOf(result, 'Ask')).toEqual({
    title: 'Ask',
    text: 'Delete {{trigger.data.count}} files?',
    choices: [
      { id: 'approve', label: 'Yes' },
      { id: 'reject', label: 'Decline' },
    ],
    timeout_s: 900,
  });
  const into = flowOf(result).edges.filter(({ target }) => target === 'ask_answer');
  expect(into.map(({ sourceHandle }) => sourceHandle)).toEqual(['approve', 'reject', 'timeout']);
  expect(configOf(result, 'Ask: answer')).toEqual({
    values: { data: { approved: '{{nodes.ask.output.decision == "approve"}}' } },
  });
  expect(configOf(result, 'Here')).toEqual({ values: { x: '{{nodes.ask_answer.output.data.approved}}' } });
  expect(outcomeOf(result, 'Ask')).toMatchObject({ what: [{ key: 'import.asks_person' }] });
  expect(findProblems(flowOf(result), registry)).toEqual([]);
});

it('a text that is asked for is a field', () => {
  const result = asked(
    { message: 'What next?\nSay it.', responseType: 'freeText' },
    '={{ $json.data.text }}',
  );
  expect(configOf(result, 'Ask')).toMatchObject({
    title: 'What next?',
    choices: [{ id: 'submit' }],
    fields: [{ name: 'text', type: 'paragraph' }],
  });
  expect(findProblems(flowOf(result), registry)).toEqual([]);
  expect(outcomeOf(asked({ responseType: 'chat' }, 'x'), 'Ask')).toMatchObject({ kind: 'dropped' });
});

it('a form that is asked for is fields, which are read by their labels', () => {
  const values = [
    { fieldLabel: 'Next', fieldType: 'dropdown', fieldOptions: { values: [{ option: 'Go' }] } },
  ];
  const result = asked(
    { message: 'Well?', responseType: 'customForm', formFields: { values } },
    '={{ $json.data.Next }}',
  );
  expect(configOf(result, 'Ask')).toMatchObject({
    title: 'Well?',
    choices: [{ id: 'submit' }],
    fields: [{ label: 'Next', name: 'Next', type: 'choice' }],
  });
  expect(configOf(result, 'Here')).toEqual({ values: { x: '{{nodes.ask_answer.output.data.Next}}' } });
  expect(findProblems(flowOf(result), registry)).toEqual([]);
});
