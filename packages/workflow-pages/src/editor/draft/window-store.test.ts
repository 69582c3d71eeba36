import { type JsonValue, parseJson } from '@millrace/engine';
import { expect, test } from 'vitest';
import { useTestStorage } from './test-storage.ts';
import { windowStore } from './window-store.ts';

const limit = useTestStorage();
const store = (userId: number, workflowId: number) =>
  windowStore('unkept', userId, workflowId, (value: JsonValue) => {
    if (value === 'broken') throw new TypeError('broken');
    return value === 'strange' ? null : value;
  });

test('an entry is taken once, by the same person for the same workflow, with exact numbers', () => {
  expect(store(1, 2).put(parseJson('{"id":9007199254740993}'))).toBe(true);
  expect([...store(1, 3).take()]).toEqual([]);
  expect([...store(9, 2).take()]).toEqual([]);
  expect(JSON.stringify([...store(1, 2).take()])).toBe('[{"id":9007199254740993}]');
  expect([...store(1, 2).take()]).toEqual([]);
});

test('an entry is replaced by the next one of the same window, and dropped once the service has it', () => {
  store(1, 2).put('first');
  store(1, 2).put('second');
  localStorage.setItem('millrace.unkept.1.2.other-window', '"other"');
  expect(new Set(store(1, 2).take())).toEqual(new Set(['other', 'second']));
  store(1, 2).put('third');
  store(1, 2).drop();
  expect([...store(1, 2).take()]).toEqual([]);
});

test('only entries that are read are removed', () => {
  store(1, 2).put('mine');
  localStorage.setItem('millrace.unkept.1.2.other-window', '"other"');
  const [first] = store(1, 2).take();
  expect(['mine', 'other']).toContain(first);
  expect([...store(1, 2).take()]).toHaveLength(1);
});

test('entries without room, or unreadable ones, are ignored', () => {
  limit.room = 10;
  expect(store(1, 2).put('longer than that')).toBe(false);
  for (const [at, text] of ['{', '"broken"', '"strange"'].entries()) {
    localStorage.setItem(`millrace.unkept.1.2.${at}`, text);
  }
  expect([...store(1, 2).take()]).toEqual([]);
});
