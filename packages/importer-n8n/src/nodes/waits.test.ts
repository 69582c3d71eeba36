import { findProblems, type JsonObject } from '@millrace/engine';
import type { ImportResult } from '@millrace/importer';
import { registry } from '@millrace/nodes';
import { expect, test } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read, type Sketch, START } from '../testing.ts';

const here = (value: string): Sketch => ({
  type: 'set',
  version: 3.4,
  parameters: { assignments: { assignments: [{ name: 'x', type: 'string', value }] } },
});

/** A request that may announce a wait, the wait, and a node that reads what it brought. */
function waiting(body: string, wait: JsonObject, reads: string): ImportResult {
  return read(
    n8n(
      {
        Start: START,
        Ask: {
          type: 'httpRequest',
          version: 4.2,
          parameters: {
            ...{ method: 'POST', url: 'https://jobs.example.com', sendBody: true },
            ...{ specifyBody: 'json', jsonBody: body },
          },
        },
        Wait: { type: 'wait', version: 1.1, parameters: wait },
        Here: here(reads),
      },
      [
        ['Start', 'Ask'],
        ['Ask', 'Wait'],
        ['Wait', 'Here'],
      ],
    ),
  );
}

test('a request with the address of the wait after it becomes one node that waits for the call', () => {
  const result = waiting(
    '={ "id": {{ $json.id }}, "back": "{{ $execution.resumeUrl }}" }',
    { resume: 'webhook', httpMethod: 'POST', limitWaitTime: true, resumeAmount: 5, resumeUnit: 'minutes' },
    '={{ $json.body.result }}',
  );
  expect(configOf(result, 'Ask')).toMatchObject({
    request: {
      method: 'POST',
      url: 'https://jobs.example.com',
      body: { id: '{{trigger.data.id}}', back: '{{args.callback_url}}' },
    },
    timeout_s: 300,
  });
  expect(flowOf(result).nodes.find(({ id }) => id === 'ask')?.type).toBe('wait.callback');
  const into = flowOf(result).edges.filter(({ target }) => target === 'ask_answer');
  expect(into.map(({ sourceHandle }) => sourceHandle)).toEqual(['out', 'timeout']);
  expect(configOf(result, 'Here')).toEqual({ values: { x: '{{nodes.ask_answer.output.body.result}}' } });
  expect(outcomeOf(result, 'Ask')).toMatchObject({ what: [{ key: 'import.resumed_by_post' }] });
  expect(result.outcomes.some(({ kind }) => kind === 'dropped')).toBe(false);
  expect(findProblems(flowOf(result), registry)).toEqual([]);
});

test('a wait whose address nobody is sent stays a placeholder, as does one that code passes on', () => {
  const alone = waiting('={ "id": 1 }', { resume: 'webhook' }, 'x');
  expect(outcomeOf(alone, 'Wait')).toMatchObject({
    kind: 'dropped',
    reason: { key: 'import.wait_for_call' },
  });
  const inCode = waiting('={ "back": "{{ $execution.resumeUrl + 1 }}" }', { resume: 'webhook' }, 'x');
  expect(outcomeOf(inCode, 'Ask')).toMatchObject({ kind: 'dropped' });
});

test('a wait for a form becomes a question with its fields', () => {
  const result = waiting(
    '={ "id": 1 }',
    {
      ...{ resume: 'form', formTitle: 'How many?', formDescription: '=For {{ $json.name }}' },
      formFields: { values: [{ fieldLabel: 'Count', fieldType: 'number', requiredField: true }] },
    },
    '={{ $json.Count }}',
  );
  expect(configOf(result, 'Wait')).toEqual({
    title: 'How many?',
    text: 'For {{nodes.ask.output.body.name}}',
    choices: [{ id: 'submit', label: 'Submit' }],
    fields: [{ label: 'Count', name: 'Count', type: 'number', required: true }],
    timeout_s: 2_592_000,
  });
  expect(configOf(result, 'Here')).toEqual({ values: { x: '{{nodes.wait_answer.output.data.Count}}' } });
  expect(findProblems(flowOf(result), registry)).toEqual([]);
});
