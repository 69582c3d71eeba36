import { findProblems } from '@millrace/engine';
import type { ImportResult } from '@millrace/importer';
import { registry } from '@millrace/nodes';
import { expect, test } from 'vitest';
import { n8n, read } from '../testing.ts';

const values = [
  { fieldLabel: 'Your name', requiredField: true },
  {
    fieldLabel: 'Topic',
    fieldType: 'dropdown',
    fieldOptions: { values: [{ option: 'A' }, { option: 'B' }] },
  },
  { fieldLabel: 'Scan', fieldType: 'file', acceptFileTypes: '.pdf' },
];

const triggerOf = ({ workflow }: ImportResult) => {
  const flow = workflow?.flow_data as {
    readonly nodes: readonly { readonly type: string; readonly data: object }[];
  };
  return flow.nodes.find(({ type }) => type.startsWith('trigger.'));
};

function importForm(parameters: object): ImportResult {
  const set = {
    mode: 'manual',
    assignments: { assignments: [{ name: 'a', type: 'string', value: "={{ $json['Your name'] }}" }] },
  };
  return read(
    n8n(
      {
        Form: { type: 'n8n-nodes-base.formTrigger', version: 2.2, parameters: { ...parameters } },
        Keep: { type: 'n8n-nodes-base.set', version: 3.4, parameters: set },
      },
      [['Form', 'Keep']],
    ),
  );
}

test('a form keeps its fields, texts, and the names that expressions read', () => {
  const result = importForm({
    formTitle: 'Ask us',
    formFields: { values },
    options: { buttonLabel: 'Send', respondWithOptions: { values: { formSubmittedText: 'Thanks!' } } },
  });
  expect(triggerOf(result)).toMatchObject({
    type: 'trigger.form',
    data: {
      config: {
        title: 'Ask us',
        button: 'Send',
        thanks: 'Thanks!',
        fields: [
          { label: 'Your name', name: 'Your name', type: 'text', required: true },
          { label: 'Topic', name: 'Topic', type: 'choice', choices: ['A', 'B'] },
          { label: 'Scan', name: 'Scan', type: 'file', accept: '.pdf' },
        ],
      },
    },
  });
  expect(JSON.stringify(result.workflow)).toContain('trigger.data[\\"Your name\\"]');
  expect(result.outcomes).toMatchObject([{ kind: 'mapped' }, { kind: 'mapped' }]);
  expect(findProblems(result.workflow?.flow_data as never, registry)).toEqual([]);
});

test('what a form does otherwise is said', () => {
  const result = importForm({
    formTitle: 'Ask us',
    formFields: { values: [...values, { fieldType: 'html', html: '<b>Hello</b>' }] },
    responseMode: 'lastNode',
  });
  expect(result.outcomes.find(({ node }) => node === 'Form')).toMatchObject({ kind: 'approximated' });
  expect(triggerOf(result)).toMatchObject({ data: { config: { fields: [{}, {}, {}] } } });
});
