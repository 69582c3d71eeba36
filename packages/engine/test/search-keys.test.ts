import { describe, expect, it } from 'vitest';
import { compile, type JsonObject, type JsonValue, searchKeysOf, validateStructure } from '../src/index.ts';
import { flowOf, testRegistry } from './support/index.ts';

const withSettings = (settings: JsonObject) => ({ ...flowOf({}, []), settings }) as JsonValue;

function keysOf(searchKeys: JsonObject, data: JsonObject) {
  const compiled = compile(withSettings({ vars: { region: 'eu' }, search_keys: searchKeys }), testRegistry);
  if (compiled.kind !== 'plan') throw new Error(`no plan: ${JSON.stringify(compiled.problem)}`);
  return searchKeysOf(compiled.plan, { executionId: 7, triggerData: data });
}

describe('search keys are', () => {
  it('H7: rendered from the trigger, constants and the id, as texts', () => {
    const keys = {
      order: '{{trigger.data.order}}',
      number: '{{trigger.data.number}}',
      both: '{{vars.region}}-{{execution.id}}',
      list: '{{trigger.data.list}}',
    };
    expect(keysOf(keys, { order: ' A-1 ', number: 12, list: [1, 'x'] })).toEqual({
      order: 'A-1',
      number: '12',
      both: 'eu-7',
      list: '[1,"x"]',
    });
  });

  it('H7: left out when they are missing, blank or too large, and cut when they are long', () => {
    const keys = {
      missing: '{{trigger.data.missing}}',
      blank: '{{trigger.data.blank}}',
      huge: '{{trigger.data.huge}}{{trigger.data.huge}}',
      long: '{{trigger.data.long}}',
    };
    const data = { blank: '  ', huge: 'x'.repeat(60_000), long: '𠮷'.repeat(300) };
    expect(keysOf(keys, data)).toEqual({ long: '𠮷'.repeat(200) });
    expect(keysOf({ missing: '{{trigger.data.missing}}' }, {})).toBeNull();
    expect(keysOf({}, { a: 1 })).toBeNull();
  });

  it('H7: storable, whatever a webhook sends', () => {
    expect(keysOf({ id: '{{trigger.data.id}}' }, { id: 'a\u0000b\ud800' })).toEqual({ id: 'a\ufffdb\ufffd' });
  });

  it('F8 P7: at most ten named templates that read nothing else', () => {
    const faultsOf = (searchKeys: JsonObject) =>
      validateStructure(withSettings({ search_keys: searchKeys }), { maxNodes: 10 }).map(
        ({ pointer, code }) => `${pointer} ${code}`,
      );
    const eleven = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`k${index}`, 'x']));
    expect(faultsOf({ order: '{{trigger.data.x}}' })).toEqual([]);
    expect(faultsOf(eleven)).toEqual(['/flow_data/settings/search_keys too_many']);
    expect(faultsOf({ '': 'x', ['n'.repeat(41)]: 'x', empty: '', number: 1 })).toEqual([
      '/flow_data/settings/search_keys/ invalid_value',
      `/flow_data/settings/search_keys/${'n'.repeat(41)} invalid_value`,
      '/flow_data/settings/search_keys/empty empty',
      '/flow_data/settings/search_keys/number invalid_type',
    ]);
    const compiled = compile(withSettings({ search_keys: { a: '{{nodes.t.output.x}}' } }), testRegistry);
    expect(compiled).toMatchObject({ problem: { pointer: '/flow_data/settings/search_keys/a' } });
  });
});
