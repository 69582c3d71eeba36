import type { JsonObject } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read, type Sketch, START } from '../testing.ts';

const hook = (parameters: JsonObject): Sketch => ({ type: 'webhook', version: 2, parameters });
const END: Sketch = { type: 'set', version: 3.4, parameters: { mode: 'raw', jsonOutput: '{"a": 1}' } };
const LINE = [['Hook', 'End']] as const;
const answering = (parameters: JsonObject) =>
  read(n8n({ Hook: hook({ responseMode: 'lastNode', ...parameters }), End: END }, LINE));
const said = (result: ReturnType<typeof read>, name: string) => {
  const outcome = outcomeOf(result, name);
  return outcome?.kind === 'approximated' ? outcome.what.map(({ key }) => key) : [];
};

describe('a webhook that answers with the last node', () => {
  it('has the status and headers that were chosen', () => {
    const responseHeaders = {
      entries: [
        { name: 'X-Name', value: 'a {{b}}' },
        { name: 'X-Own', value: '={{ $json.a }}' },
        { name: 'Set-Cookie', value: 'a=b' },
      ],
    };
    const responseCode = { values: { responseCode: 'customCode', customCode: 299 } };
    const result = answering({ options: { responseCode, responseHeaders, responseContentType: 'text/csv' } });
    expect(configOf(result, 'Hook')?.response).toEqual({
      status: 299,
      headers: { 'X-Name': 'a \\{{b}}', 'Content-Type': 'text/csv' },
      body: '{{nodes.end.output}}',
    });
    expect(said(result, 'Hook')).toEqual(
      expect.arrayContaining([
        'import.answer_expression',
        'import.response_header',
        'import.answer_if_empty',
      ]),
    );
  });

  it('says that it sends no file', () => {
    const result = answering({ responseData: 'firstEntryBinary' });
    expect(configOf(result, 'Hook')?.response).toEqual({ status: 200 });
    expect(said(result, 'Hook')).toContain('import.answer_is_file');
  });

  it('says that some of many ends are left out', () => {
    const names = Array.from({ length: 17 }, (_, index) => `End ${index}`);
    const nodes = {
      Hook: hook({ responseMode: 'lastNode' }),
      ...Object.fromEntries(names.map((name) => [name, END])),
    };
    const result = read(
      n8n(
        nodes,
        names.map((name) => ['Hook', name] as const),
      ),
    );
    expect(said(result, 'Hook')).toContain('import.ends_left_out');
  });
});

describe('a webhook that answers at once', () => {
  it('says what it leaves out, and lets only the same addresses call', () => {
    const options = {
      responseCode: { values: { responseCode: 201 } },
      responseData: 'ok',
      ignoreBots: true,
      allowedOrigins: '*',
      ipWhitelist: '203.0.113.7, 203.0.113.0/24',
    };
    const result = read(n8n({ Hook: hook({ httpMethod: 'POST', options }), End: END }, LINE));
    expect(configOf(result, 'Hook')?.ip_allow_list).toEqual(['203.0.113.7', '203.0.113.0/24']);
    expect(said(result, 'Hook')).toEqual(['import.settings_left_out']);
    expect(outcomeOf(result, 'Hook')).toMatchObject({
      what: [{ params: { names: 'responseCode, responseData, ignoreBots' } }],
    });
  });
});

describe('a call of a workflow', () => {
  it('says that it is for each item, unless the original says so, too', () => {
    const rows: Sketch = { type: 'splitOut', parameters: { fieldToSplitOut: 'rows' } };
    const calling = (parameters: JsonObject) =>
      read(
        n8n({ Start: START, Rows: rows, Call: { type: 'executeWorkflow', version: 1.2, parameters } }, [
          ['Start', 'Rows'],
          ['Rows', 'Call'],
        ]),
      );
    expect(said(calling({}), 'Call')).toContain('import.called_for_each');
    expect(said(calling({ mode: 'each' }), 'Call')).not.toContain('import.called_for_each');
  });

  it('may have a list of items as its result', () => {
    const call: Sketch = { type: 'executeWorkflow', version: 1.2 };
    const next: Sketch = {
      type: 'set',
      parameters: { values: { string: [{ name: 'a', value: '={{ $json.b }}' }] } },
    };
    const result = read(
      n8n({ Start: START, Call: call, Next: next }, [
        ['Start', 'Call'],
        ['Call', 'Next'],
      ]),
    );
    expect(said(result, 'Call')).toContain('import.response_is_one_item');
    expect(flowOf(result).nodes.map(({ type }) => type)).toContain('flow.call');
  });
});
