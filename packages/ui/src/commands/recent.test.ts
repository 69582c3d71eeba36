import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { forgetRecent, noteRecent, readRecent } from './recent.ts';

const me = { userId: 1, org: 2 };
let items: Map<string, string>;
beforeEach(() => {
  items = new Map();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => items.set(key, value),
    removeItem: (key: string) => items.delete(key),
  });
});
afterEach(() => vi.unstubAllGlobals());

const workflow = (id: number, title = `workflow ${id}`) => ({ kind: 'workflow', id, title }) as const;

test('what was opened last comes first, once, with its present name', () => {
  noteRecent(me, workflow(1));
  noteRecent(me, { kind: 'execution', id: 1, title: 'run' });
  noteRecent(me, workflow(1, 'renamed'));
  expect(readRecent(me)).toEqual([workflow(1, 'renamed'), { kind: 'execution', id: 1, title: 'run' }]);
});

test('belongs to one person in one organisation, is limited, and forgotten at sign-out', () => {
  for (let id = 1; id <= 20; id += 1) noteRecent(me, workflow(id));
  noteRecent({ userId: 1, org: 3 }, workflow(99));
  expect(readRecent(me).map(({ id }) => id)).toEqual([20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9]);
  expect(readRecent({ userId: 2, org: 2 })).toEqual([]);
  forgetRecent();
  expect(readRecent(me)).toEqual([]);
});

test.each(['', 'null', '{"1 2": 3}', '{"1 2": [null, {"kind": "workflow"}, 7]}'])(
  'something else in the storage counts as nothing: %s',
  (text) => {
    items.set('millrace.recent', text);
    expect(readRecent(me)).toEqual([]);
    noteRecent(me, workflow(1));
    expect(readRecent(me)).toEqual([workflow(1)]);
  },
);
