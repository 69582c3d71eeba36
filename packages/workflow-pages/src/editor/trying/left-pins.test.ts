import type { PinnedOutput } from '@millrace/editor/pins/pin-sync.ts';
import type { JsonObject } from '@millrace/engine';
import { describe, expect, test } from 'vitest';
import { useTestStorage } from '../draft/test-storage.ts';
import { leftPins, newestOf, putLeftPins } from './left-pins.ts';

useTestStorage();
const store = leftPins(1, 2);
const kept = (node_id: string, output: JsonObject, atMs: number) => ({
  node_id,
  output,
  pinned_at: new Date(atMs).toISOString(),
});
const pins = (...all: readonly (readonly [string, PinnedOutput])[]) => new Map(all);

describe('pins kept in the browser', () => {
  test('are read as they were stored', () => {
    const left = { at: 5, pins: pins(['a', { n: 1 }], ['b', null]), sent: pins(['a', {}]) };
    expect(putLeftPins(store, left)).toBe(true);
    expect([...store.take()]).toEqual([left]);
  });

  test('are the newest of each node, unless the service has a newer one', () => {
    const left = [
      { at: 1_000, pins: pins(['a', { n: 1 }], ['b', { n: 1 }]), sent: pins() },
      { at: 2_000, pins: pins(['a', null], ['c', { n: 2 }]), sent: pins() },
    ];
    expect([...newestOf(left, [kept('a', { n: 0 }, 1_500), kept('c', { n: 3 }, 3_000)])]).toEqual([
      ['b', { n: 1 }],
      ['a', null],
    ]);
  });

  test('are not outdated by an earlier request that arrived later', () => {
    const left = [{ at: 1_000, pins: pins(['a', { n: 2 }]), sent: pins(['a', { n: 1 }]) }];
    expect([...newestOf(left, [kept('a', { n: 1 }, 3_000)])]).toEqual([['a', { n: 2 }]]);
    expect([...newestOf(left, [kept('a', { n: 5 }, 3_000)])]).toEqual([]);
  });

  test('that are malformed are ignored', () => {
    const texts = ['{"at":1}', '{"at":1,"pins":[["a",1]],"sent":[]}', '{"pins":[],"sent":[]}'];
    for (const [at, text] of texts.entries()) localStorage.setItem(`millrace.unsaved-pins.1.2.${at}`, text);
    expect([...store.take()]).toEqual([]);
  });
});
