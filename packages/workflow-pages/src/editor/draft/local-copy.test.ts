import type { Flow } from '@millrace/engine';
import { describe, expect, test } from 'vitest';
import { follows, type LocalCopy, localCopies, putLocalCopy, takeLocalCopy } from './local-copy.ts';
import { useTestStorage } from './test-storage.ts';

const flow = (label: string): Flow => ({ nodes: [{ id: label, type: 'core.set' }], edges: [] });
const copy = (label: string, revision: number, sent: Flow | null = null): LocalCopy => ({
  flow: flow(label),
  baseVersion: 1,
  revision,
  sent,
});

const limit = useTestStorage();
const copies = localCopies(1, 2);

describe('the copy that is left in the browser', () => {
  test('that the service has received after all is discarded', () => {
    putLocalCopy(copies, copy('mine', 0));
    expect(takeLocalCopy(copies, { flow: flow('mine'), revision: 55 })).toBeNull();
  });

  test('follows the draft it is based on, and the one in flight', () => {
    expect(follows(copy('mine', 5), { flow: flow('draft'), revision: 5 })).toBe(true);
    expect(follows(copy('mine', 5), { flow: flow('draft'), revision: 8 })).toBe(false);
    expect(follows(copy('mine', 5, flow('draft')), { flow: flow('draft'), revision: 8 })).toBe(true);
  });

  test('exists even if there is no room for the one in flight', () => {
    limit.room = 150;
    expect(putLocalCopy(copies, copy('mine', 0, flow('x'.repeat(100))))).toBe(true);
    expect(takeLocalCopy(copies, { flow: flow('saved'), revision: 0 })).toEqual(copy('mine', 0));
    limit.room = 10;
    expect(putLocalCopy(copies, copy('mine', 0, flow('x')))).toBe(false);
  });

  test('that is malformed is ignored', () => {
    localStorage.setItem('millrace.unkept.1.2.x', '{"flow": 1}');
    expect(takeLocalCopy(copies, { flow: flow('saved'), revision: 0 })).toBeNull();
  });
});
