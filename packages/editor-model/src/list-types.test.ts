import { expect, test } from 'vitest';
import { FALLBACK_TYPE, listTypes } from './list-types.ts';
import { nodeType } from './testing.ts';

const TYPES = new Map(
  [
    nodeType('acme.send', { kind: 'effect' }),
    nodeType(FALLBACK_TYPE, { kind: 'effect' }),
    nodeType('core.set'),
    nodeType('core.old', { is_replaced: true }),
    nodeType('trigger.webhook', { kind: 'trigger' }),
    nodeType('trigger.form', { kind: 'trigger' }),
  ].map((type) => [type.type, type]),
);
const ANY: Parameters<typeof listTypes>[2] = {
  isJoined: false,
  hasTrigger: false,
  former: null,
  recent: [],
  areLoading: false,
};
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

test('while types are loading, what fits is offered, but not yet what can call anything', () => {
  expect(listed('zzzzzzzz', { areLoading: true })).toEqual({ isFallback: false, groups: [] });
  expect(listed('acme', { areLoading: true })).toEqual(listed('acme', {}));
});
