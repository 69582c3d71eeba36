import { ApiProblem } from '@millrace/ui/api/client.ts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DraftSync, type DraftSyncApi } from './draft-sync.ts';
import type { LocalCopy } from './local-copy.ts';

type Draft = Parameters<DraftSyncApi['keep']>[0];
type Kept = Awaited<ReturnType<DraftSyncApi['keep']>>;

/** A fake service with one draft that, like the real one, rejects outdated revisions. */
function open() {
  let count = 0;
  const service = {
    revision: 0,
    version: 1,
    kept: [] as Draft[],
    fails: 0,
    /** Number of responses to lose after the service has processed the request. */
    lost: 0,
    gate: Promise.resolve(),
    other: null as object | null,
    saved: { nodes: [], edges: [], count: 'other' } as object,
    left: [] as LocalCopy[],
  };
  const loseAnswer = () => {
    if (service.lost === 0) return;
    service.lost -= 1;
    throw new TypeError('fetch failed');
  };
  const api: DraftSyncApi = {
    keep: async (draft) => {
      await service.gate;
      if (service.fails > 0) {
        service.fails -= 1;
        throw new TypeError('fetch failed');
      }
      if (draft.revision !== service.revision) {
        throw new ApiProblem(409, { code: 'draft_conflict', draft: service.other } as object);
      }
      service.kept.push(draft);
      service.revision += 1;
      service.other = { revision: service.revision, base_version: draft.baseVersion, flow_data: draft.flow };
      loseAnswer();
      return {
        revision: service.revision,
        updated_at: `at ${service.revision}`,
        problems: [],
        handles: {},
        structure_errors: [],
      } as unknown as Kept;
    },
    save: async ({ flow, baseVersion, revision }) => {
      if (service.revision !== 0 && revision !== service.revision) {
        throw new ApiProblem(409, { code: 'draft_conflict', draft: service.other } as object);
      }
      if (baseVersion !== service.version) {
        throw new ApiProblem(409, {
          code: 'version_conflict',
          version: { version: service.version, flow_data: service.saved },
        } as object);
      }
      service.version += 1;
      service.saved = flow;
      service.revision = 0;
      service.other = null;
      loseAnswer();
      return { version: service.version } as never;
    },
  };
  const draftSync = new DraftSync({
    api,
    flow: () => ({ nodes: [], edges: [], count }),
    changeCount: () => count,
    initial: { status: 'same', keptAt: null, baseVersion: 1, revision: 0, structureErrors: [] },
    onChecked: () => undefined,
    onSaved: () => undefined,
    onSettled: () => void service.left.splice(0),
    onLeft: (left) => service.left.push(left) > 0,
    onFailed: (left) => service.left.push(left) > 0,
  });
  const change = () => {
    count += 1;
    draftSync.changed();
  };
  return { draftSync, service, change, state: () => draftSync.state.getState() };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('saving the draft', () => {
  test('saves changes after a moment, several at once', async () => {
    const { service, change, state } = open();
    change();
    change();
    expect(state().status).toBe('changed');
    await vi.runAllTimersAsync();
    expect(service.kept.map(({ flow }) => (flow as { count?: number }).count)).toEqual([2]);
    expect(state()).toMatchObject({ status: 'kept', revision: 1, keptAt: 'at 1' });
  });

  test('the initial content of the page is not a change', async () => {
    const { draftSync, service } = open();
    draftSync.changed();
    await vi.runAllTimersAsync();
    expect(service.kept).toEqual([]);
  });

  test('a change while a draft is in flight is saved after it, with the revision that it got', async () => {
    const { service, change, state } = open();
    let release = () => {};
    service.gate = new Promise((resolve) => {
      release = resolve;
    });
    change();
    await vi.runAllTimersAsync();
    expect(state().isUnderWay).toBe(true);
    change();
    release();
    await vi.runAllTimersAsync();
    expect(service.kept.map(({ revision }) => revision)).toEqual([0, 1]);
    expect(state()).toMatchObject({ status: 'kept', revision: 2 });
  });

  test('retries while the service is unreachable', async () => {
    const { draftSync, service, change, state } = open();
    service.fails = 2;
    change();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(state().status).toBe('failed');
    expect(draftSync.hasUnsaved).toBe(true);
    await vi.runAllTimersAsync();
    expect(state().status).toBe('kept');
    expect(draftSync.hasUnsaved).toBe(false);
  });

  test('another draft is not overwritten before a decision', async () => {
    const { draftSync, service, change, state } = open();
    service.revision = 7;
    service.other = { revision: 7, flow_data: service.saved };
    change();
    await vi.runAllTimersAsync();
    expect(state().conflict).toEqual({ kind: 'draft', draft: service.other });
    change();
    await vi.runAllTimersAsync();
    expect(service.kept).toEqual([]);
    expect(await draftSync.keepMine()).toBe(true);
    expect(service.kept.map(({ revision }) => revision)).toEqual([7]);
  });

  test('saving waits for the draft in flight, and continues from the new version', async () => {
    const { draftSync, change, state } = open();
    change();
    void draftSync.keepNow();
    expect(await draftSync.save()).toBe(true);
    expect(state()).toMatchObject({ status: 'same', baseVersion: 2, revision: 0, isSaving: false });
    change();
    await vi.runAllTimersAsync();
    expect(state()).toMatchObject({ status: 'kept', revision: 1 });
  });

  test('a version saved by someone else is a conflict; mine is saved over it only on request', async () => {
    const { draftSync, service, change, state } = open();
    service.version = 4;
    change();
    expect(await draftSync.save('mine')).toBe(false);
    expect(state().conflict).toMatchObject({ kind: 'version', version: { version: 4 }, message: 'mine' });
    expect(service.version).toBe(4);
    expect(await draftSync.keepMine()).toBe(true);
    expect(state()).toMatchObject({ status: 'same', baseVersion: 5, conflict: null });
  });

  test('an adopted version is not saved as a draft', async () => {
    const { draftSync, service, change, state } = open();
    change();
    draftSync.adopt({ version: 3 });
    draftSync.changed();
    await vi.runAllTimersAsync();
    expect(service.kept).toEqual([]);
    expect(state()).toMatchObject({ status: 'same', baseVersion: 3 });
  });

  test('the same draft from elsewhere, or a lost response, is not a conflict', async () => {
    const { service, change, state } = open();
    service.revision = 7;
    service.other = { revision: 7, base_version: 1, flow_data: { edges: [], nodes: [], count: 1 } };
    change();
    await vi.runAllTimersAsync();
    expect(state()).toMatchObject({ status: 'kept', revision: 7, conflict: null });
    const again = open();
    Object.assign(again.service, { version: 2, saved: { nodes: [], edges: [], count: 1 } });
    again.change();
    expect(await again.draftSync.save()).toBe(true);
    expect(again.state()).toMatchObject({ status: 'same', conflict: null });
  });

  test('a draft whose response was lost is continued, whatever has changed here since', async () => {
    const { draftSync, service, change, state } = open();
    service.lost = 2;
    change();
    await vi.advanceTimersByTimeAsync(1_000);
    change();
    expect(draftSync.left).toMatchObject({ flow: { count: 2 }, revision: 0, sent: { count: 1 } });
    await vi.runAllTimersAsync();
    expect(service.kept.map(({ revision }) => revision)).toEqual([0, 1]);
    expect(state()).toMatchObject({ status: 'kept', revision: 2, conflict: null });
  });

  test('so is a version whose response was lost', async () => {
    const { draftSync, service, change, state } = open();
    change();
    await vi.runAllTimersAsync();
    service.lost = 1;
    await expect(draftSync.save()).rejects.toThrow('fetch failed');
    change();
    await vi.runAllTimersAsync();
    expect(state()).toMatchObject({ status: 'kept', conflict: null });
    expect(await draftSync.save()).toBe(true);
    expect(state()).toMatchObject({ status: 'same', baseVersion: 3, conflict: null });
  });

  test("a save doesn't discard a draft that this window has not seen", async () => {
    const { draftSync, service, change, state } = open();
    service.revision = 7;
    service.other = { revision: 7, base_version: 1, flow_data: service.saved };
    change();
    expect(await draftSync.save()).toBe(false);
    expect([state().conflict?.kind, service.version]).toEqual(['draft', 1]);
    await draftSync.keepBoth();
    expect(service.kept.map(({ revision }) => revision)).toEqual([7]);
    expect(await draftSync.save()).toBe(true);
  });

  test('a merged result is based on the adopted version', async () => {
    const { draftSync, service, change, state } = open();
    service.version = 4;
    change();
    await draftSync.save();
    await draftSync.keepBoth();
    expect(service.kept.at(-1)).toMatchObject({ baseVersion: 4 });
    expect(state()).toMatchObject({ status: 'kept', conflict: null });
    expect(await draftSync.save()).toBe(true);
  });

  test("what the service doesn't have stays in the browser until it does", async () => {
    const { draftSync, service, change } = open();
    service.fails = 1;
    change();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(service.left).toMatchObject([
      { flow: { count: 1 }, baseVersion: 1, revision: 0, sent: { count: 1 } },
    ]);
    await vi.runAllTimersAsync();
    expect(service.left).toEqual([]);
    // In flight: whether the service has it is unknown.
    let release = () => {};
    service.gate = new Promise((resolve) => {
      release = resolve;
    });
    change();
    await vi.advanceTimersByTimeAsync(1_000);
    change();
    expect(draftSync.left).toMatchObject({ flow: { count: 3 }, revision: 1, sent: { count: 2 } });
    release();
    await vi.runAllTimersAsync();
  });

  test('nothing is started after the page is gone', async () => {
    const { draftSync, service, change } = open();
    service.fails = 1;
    change();
    void draftSync.keepNow();
    draftSync.stop();
    await vi.runAllTimersAsync();
    expect([service.kept, service.fails]).toEqual([[], 0]);
  });
});
