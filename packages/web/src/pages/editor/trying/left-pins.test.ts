import type { PinnedOutput } from '@millrace/editor/pins/pin-keeper.ts';
import { type JsonObject, parseJson } from '@millrace/engine';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { newestOf, putLeftPins, takeLeftPins } from './left-pins.ts';

let room = Number.POSITIVE_INFINITY;
beforeEach(() => {
  room = Number.POSITIVE_INFINITY;
  class Storage {
    getItem(key: string) {
      return (this as unknown as Record<string, string>)[key] ?? null;
    }
    setItem(key: string, text: string) {
      if (text.length > room) throw new Error('QuotaExceededError');
      (this as unknown as Record<string, string>)[key] = text;
    }
    removeItem(key: string) {
      delete (this as unknown as Record<string, string>)[key];
    }
  }
  vi.stubGlobal('localStorage', new Storage());
});

const kept = (node_id: string, output: JsonObject, atMs: number) => ({
  node_id,
  output,
  pinned_at: new Date(atMs).toISOString(),
});
const pins = (...all: readonly (readonly [string, PinnedOutput])[]) => new Map(all);

describe('pins that were put aside', () => {
  test('are taken once, by the same person for the same workflow, with numbers as they were', () => {
    const output = parseJson('{"id":9007199254740993}') as PinnedOutput;
    expect(putLeftPins(1, 2, { at: 5, pins: pins(['a', output], ['b', null]), sent: pins() })).toBe(true);
    expect(takeLeftPins(1, 3)).toEqual([]);
    expect(takeLeftPins(9, 2)).toEqual([]);
    const [left] = takeLeftPins(1, 2);
    expect(JSON.stringify([left?.at, ...(left?.pins ?? [])])).toBe(
      '[5,["a",{"id":9007199254740993}],["b",null]]',
    );
    expect(takeLeftPins(1, 2)).toEqual([]);
  });

  test('stand for the newest of each node, unless the service has a newer one', () => {
    const left = [
      { at: 1_000, pins: pins(['a', { n: 1 }], ['b', { n: 1 }]), sent: pins() },
      { at: 2_000, pins: pins(['a', null], ['c', { n: 2 }]), sent: pins() },
    ];
    expect([...newestOf(left, [kept('a', { n: 0 }, 1_500), kept('c', { n: 3 }, 3_000)])]).toEqual([
      ['b', { n: 1 }],
      ['a', null],
    ]);
  });

  test('are not outdated by what was on its way before them and arrived later', () => {
    const left = [{ at: 1_000, pins: pins(['a', { n: 2 }]), sent: pins(['a', { n: 1 }]) }];
    expect([...newestOf(left, [kept('a', { n: 1 }, 3_000)])]).toEqual([['a', { n: 2 }]]);
    expect([...newestOf(left, [kept('a', { n: 5 }, 3_000)])]).toEqual([]);
  });

  test('that have no room, or are none, are left out', () => {
    room = 10;
    expect(putLeftPins(1, 2, { at: 5, pins: pins(['a', {}]), sent: pins() })).toBe(false);
    room = 100;
    for (const [at, text] of [
      '{',
      '{"at":1}',
      '{"at":1,"pins":[["a",1]],"sent":[]}',
      '{"pins":[],"sent":[]}',
    ].entries()) {
      localStorage.setItem(`millrace.unkept-pins.1.2.${at}`, text);
    }
    expect(takeLeftPins(1, 2)).toEqual([]);
  });
});
