import { expect, test } from 'vitest';
import type { NodeType } from './editor-state.ts';
import { FALLBACK_TYPE, listTypes } from './list-types.ts';

const typeOf = (type: string, kind: NodeType['kind'], about: Partial<NodeType> = {}): NodeType => ({
  type,
  title: type,
  description: '',
  synonyms: [],
  output_example: null,
  icon: 'box',
  kind,
  group: type.slice(0, type.indexOf('.')),
  config_schema: { type: 'object', properties: {} },
  first_config: {},
  handles: ['out'],
  examples: [],
  default_timeout_ms: null,
  default_retry: { max_attempts: 1, backoff_ms: 0, max_backoff_ms: 0 },
  ...about,
});
const TYPES = new Map(
  [
    typeOf('acme.send', 'effect'),
    typeOf(FALLBACK_TYPE, 'effect'),
    typeOf('core.set', 'pure'),
    typeOf('core.old', 'pure', { is_replaced: true }),
    typeOf('trigger.webhook', 'trigger'),
    typeOf('trigger.form', 'trigger'),
  ].map((type) => [type.type, type]),
);
const ANY: Parameters<typeof listTypes>[2] = { isJoined: false, hasTrigger: false, former: null, recent: [] };
const listed = (search: string, wanted: Partial<typeof ANY>) =>
  listTypes(TYPES, search, { ...ANY, ...wanted });
const namesIn = ({ groups }: ReturnType<typeof listTypes>) =>
  groups.map(({ group, types }) => [group, ...types.map(({ type }) => type)]);

test('without a search, known groups come in their order, after what was used lately', () => {
  expect(namesIn(listed('', {}))).toEqual([
    ['trigger', 'trigger.webhook', 'trigger.form'],
    ['core', 'core.set'],
    ['http', FALLBACK_TYPE],
    ['acme', 'acme.send'],
  ]);
  expect(namesIn(listed('', { recent: ['core.set', 'gone.type'] }))).toEqual([
    ['recent', 'core.set'],
    ['trigger', 'trigger.webhook', 'trigger.form'],
    ['http', FALLBACK_TYPE],
    ['acme', 'acme.send'],
  ]);
});

test('no trigger is offered behind a node, and only other triggers in the place of one', () => {
  expect(namesIn(listed('', { isJoined: true })).map(([group]) => group)).toEqual(['core', 'http', 'acme']);
  expect(namesIn(listed('', { former: 'trigger.form' }))).toEqual([['trigger', 'trigger.webhook']]);
});

test('if nothing fits a search, what can call anything is offered, but not in the place of a trigger', () => {
  expect(listed('zzzzzzzz', {})).toMatchObject({ isFallback: true, groups: [{ group: 'http' }] });
  expect(listed('zzzzzzzz', { former: 'trigger.form' })).toEqual({ isFallback: false, groups: [] });
  expect(listed('acme', {})).toMatchObject({ isFallback: false, groups: [{ group: 'acme' }] });
});
