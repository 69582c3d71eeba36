import type { JsonSchema, JsonValue } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import { connectorNodes } from './connectors.ts';
import { lintConnector } from './lint.ts';
import released from './released-operations.json' with { type: 'json' };
import { services } from './services.ts';

describe.each(services)('$id', (connector) => {
  it('has no faults', () => {
    expect(lintConnector(connector as unknown as JsonValue)).toEqual([]);
  });

  it('says what it was compared with, or why it was not', () => {
    expect([connector.compared, connector.uncompared].filter((each) => each !== undefined)).toHaveLength(1);
  });
});

it('translates one text in one way', () => {
  const known = new Map<string, string>();
  for (const { id, ja } of services) {
    for (const [text, japanese] of Object.entries(ja)) {
      expect(known.get(text) ?? japanese, `${id}: ${text}`).toBe(japanese);
      known.set(text, japanese);
    }
  }
});

/** What workflows that were saved with an operation rely on: the types of its settings, and which are required. */
function contractOf(schema: JsonSchema): { settings: { [name: string]: string }; required: string[] } {
  const properties = Object.entries((schema.properties ?? {}) as { [name: string]: JsonSchema });
  const types = properties.map(([name, { type }]) => [name, typeof type === 'string' ? type : 'any']);
  return { settings: Object.fromEntries(types), required: [...((schema.required ?? []) as string[])] };
}

/** By type. */
const contracts = new Map(connectorNodes.map(({ node }) => [node.type, contractOf(node.configSchema)]));
const promised = Object.entries(released as { [type: string]: ReturnType<typeof contractOf> });

describe('a released operation', () => {
  it.each(promised)('%s accepts what it accepted', (type, { settings, required }) => {
    const now = contracts.get(type);
    expect(now, 'keep it, and add a newer version beside it').toBeDefined();
    expect(now?.settings).toMatchObject(settings);
    expect(required).toEqual(expect.arrayContaining(now?.required ?? []));
  });

  it('is listed', () => {
    expect(Object.fromEntries(contracts), 'add it to released-operations.json').toEqual(released);
  });
});
