import type { Flow } from '@millrace/engine';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { follows, type LocalCopy, putLocalCopy, takeLocalCopy } from './local-copy.ts';

const flow = (label: string): Flow => ({ nodes: [{ id: label, type: 'core.set' }], edges: [] });
const copy = (label: string, revision: number, sent: Flow | null = null): LocalCopy => ({
  flow: flow(label),
  baseVersion: 1,
  revision,
  sent,
});

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

describe('the copy that is left in the browser', () => {
  test('is taken once, by the same person for the same workflow', () => {
    putLocalCopy(1, 2, copy('mine', 0));
    expect(takeLocalCopy(1, 3, { flow: flow('saved'), revision: 0 })).toBeNull();
    expect(takeLocalCopy(9, 2, { flow: flow('saved'), revision: 0 })).toBeNull();
    expect(takeLocalCopy(1, 2, { flow: flow('saved'), revision: 0 })).toEqual(copy('mine', 0));
    expect(takeLocalCopy(1, 2, { flow: flow('saved'), revision: 0 })).toBeNull();
  });

  test('that the service has got after all is of no interest', () => {
    putLocalCopy(1, 2, copy('mine', 0));
    expect(takeLocalCopy(1, 2, { flow: flow('mine'), revision: 55 })).toBeNull();
  });

  test('follows the draft that it was made from, and the one that was on its way', () => {
    expect(follows(copy('mine', 5), { flow: flow('draft'), revision: 5 })).toBe(true);
    expect(follows(copy('mine', 5), { flow: flow('draft'), revision: 8 })).toBe(false);
    expect(follows(copy('mine', 5, flow('draft')), { flow: flow('draft'), revision: 8 })).toBe(true);
  });

  test('is there although there is no room for what was on its way, too', () => {
    room = 150;
    expect(putLocalCopy(1, 2, copy('mine', 0, flow('x'.repeat(100))))).toBe(true);
    expect(takeLocalCopy(1, 2, { flow: flow('saved'), revision: 0 })).toEqual(copy('mine', 0));
    room = 10;
    expect(putLocalCopy(1, 2, copy('mine', 0, flow('x')))).toBe(false);
  });

  test('what is no copy is left out', () => {
    localStorage.setItem('millrace.unkept.1.2.x', '{"flow": 1}');
    localStorage.setItem('millrace.unkept.1.2.y', '{');
    expect(takeLocalCopy(1, 2, { flow: flow('saved'), revision: 0 })).toBeNull();
  });
});
