import { describe, expect, test } from 'vitest';
import { ADMIN_API, type Endpoint } from './index.ts';

/** Whether a schema allows arbitrary JSON somewhere, including numbers beyond a double's precision. */
function holdsAnyJson(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const { type, enum: values, const: value, properties, items, anyOf, patternProperties } = schema as Schema;
  // The parameters of a message are words and counts.
  const isMessage = properties !== undefined && 'key' in properties && 'params' in properties;
  const parts = [
    ...Object.entries(properties ?? {}).flatMap(([name, part]) =>
      isMessage && name === 'params' ? [] : [part],
    ),
    ...Object.values(patternProperties ?? {}),
    ...(items === undefined ? [] : [items]),
    ...(anyOf ?? []),
  ];
  const isAnything = type === undefined && parts.length === 0 && values === undefined && value === undefined;
  const isAnyObject = type === 'object' && properties === undefined && patternProperties === undefined;
  return isAnything || isAnyObject || parts.some(holdsAnyJson);
}

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: { readonly [name: string]: unknown };
  readonly patternProperties?: { readonly [name: string]: unknown };
  readonly items?: unknown;
  readonly anyOf?: readonly unknown[];
}

describe('endpoints whose responses contain what users wrote', () => {
  const endpoints = Object.entries(ADMIN_API as { readonly [name: string]: Endpoint });

  test('are marked exact, and no others are', () => {
    const holding = endpoints.filter(([, { response, events, summary }]) => {
      const hasConflict = /DraftConflict|VersionConflict|version_conflict/.test(summary);
      return hasConflict || [response, ...Object.values(events ?? {})].some(holdsAnyJson);
    });
    const marked = endpoints.filter(([, { isExact }]) => isExact === true);
    expect(marked.map(([name]) => name)).toEqual(holding.map(([name]) => name));
    expect(marked.length).toBeGreaterThan(20);
  });
});
