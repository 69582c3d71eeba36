import { findProblems } from '@millrace/engine';
import type { ImportResult } from '@millrace/importer';
import { registry } from '@millrace/nodes';
import { describe, expect, test } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read, type Sketch } from '../testing.ts';

const FORM: Sketch = {
  type: 'formTrigger',
  version: 2.2,
  parameters: { formTitle: 'Apply', formFields: { values: [{ fieldLabel: 'Name' }] } },
};
const page = (fields: object[], options: object = {}): Sketch => ({
  type: 'form',
  parameters: { formFields: { values: fields }, options } as never,
});
const HERE: Sketch = {
  type: 'set',
  version: 3.4,
  parameters: {
    assignments: { assignments: [{ name: 'x', type: 'string', value: "={{ $('More').item.json.Shift }}" }] },
  },
};

const chained = (nodes: { readonly [name: string]: Sketch }): ImportResult => {
  const names = Object.keys(nodes);
  return read(
    n8n(
      nodes,
      names.slice(1).map((name, index) => [names[index] ?? '', name]),
    ),
  );
};

const fieldsOf = (result: ImportResult) => configOf(result, 'Form')?.fields;

describe('a page of a form', () => {
  test('right after the first one is a page of the same form, and its fields are read as before', () => {
    const result = chained({
      Form: FORM,
      More: page([{ fieldLabel: 'Shift' }], { formTitle: 'Your work' }),
      Last: page([{ fieldLabel: 'Since', fieldType: 'date' }]),
      Here: HERE,
    });
    expect(fieldsOf(result)).toEqual([
      { label: 'Name', name: 'Name', type: 'text' },
      { label: 'Your work', name: '', type: 'page' },
      { label: 'Shift', name: 'Shift', type: 'text' },
      { label: 'Last', name: '', type: 'page' },
      { label: 'Since', name: 'Since', type: 'date' },
    ]);
    expect(configOf(result, 'Here')).toEqual({ values: { x: '{{trigger.data.Shift}}' } });
    expect(outcomeOf(result, 'More')).toMatchObject({ what: [{ key: 'import.form_page_added' }] });
    expect(findProblems(flowOf(result), registry)).toEqual([]);
  });

  test.each([
    [
      'after something else',
      { Form: FORM, Between: { type: 'noOp' }, More: page([{ fieldLabel: 'Shift' }]) },
    ],
    ['with an expression', { Form: FORM, More: page([{ fieldLabel: '={{ $json.Name }}' }]) }],
    ['with a name that is taken', { Form: FORM, More: page([{ fieldLabel: 'Name' }]) }],
    ['with a file', { Form: FORM, More: page([{ fieldLabel: 'CV', fieldType: 'file' }]) }],
  ] as const)('stays a placeholder %s', (_what, nodes) => {
    const result = chained(nodes);
    expect(outcomeOf(result, 'More')).toMatchObject({ kind: 'dropped', reason: { key: 'import.form_page' } });
    expect(fieldsOf(result)).toHaveLength(1);
  });
});

describe("a form's ending", () => {
  const ending = (parameters: object): Sketch => ({
    type: 'form',
    parameters: { operation: 'completion', ...parameters } as never,
  });

  test('with texts for everybody is what the form says', () => {
    const texts = { completionTitle: 'Thank you', completionMessage: 'We will write.' };
    const result = chained({ Form: FORM, Work: { type: 'noOp' }, End: ending(texts) });
    expect(configOf(result, 'Form')?.thanks).toBe('Thank you\n\nWe will write.');
    expect(outcomeOf(result, 'End')).toMatchObject({ what: [{ key: 'import.form_ending_moved' }] });
    const elsewhere = ending({ respondWith: 'redirect', redirectUrl: 'https://example.com/done' });
    expect(configOf(chained({ Form: FORM, End: elsewhere }), 'Form')?.redirect_url).toBe(
      'https://example.com/done',
    );
  });

  test('that depends on the workflow is left out', () => {
    const result = chained({ Form: FORM, End: ending({ completionTitle: '=Hello {{ $json.Name }}' }) });
    expect(outcomeOf(result, 'End')).toMatchObject({
      kind: 'approximated',
      what: [{ key: 'import.form_ending' }],
    });
  });
});
