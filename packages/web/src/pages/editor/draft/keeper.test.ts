import { ApiProblem } from '@millrace/ui/api/client.ts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DraftKeeper, type KeeperApi } from './keeper.ts';
import type { LocalCopy } from './local-copy.ts';

type Draft = Parameters<KeeperApi['keep']>[0];
type Kept = Awaited<ReturnType<KeeperApi['keep']>>;

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
  const api: KeeperApi = {
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
  const keeper = new DraftKeeper({
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
    keeper.changed();
  };
  return { keeper, service, change, state: () => keeper.state.getState() };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the keeper of the draft', () => {
  test('keeps what changed a moment later, several changes at once', async () => {
    const { service, change, state } = open();
    change();
    change();
    expect(state().status).toBe('changed');
    await vi.runAllTimersAsync();
    expect(service.kept.map(({ flow }) => (flow as { count?: number }).count)).toEqual([2]);
    expect(state()).toMatchObject({ status: 'kept', revision: 1, keptAt: 'at 1' });
  });

  test('what the page begins with is no change', async () => {
    const { keeper, service } = open();
    keeper.changed();
    await vi.runAllTimersAsync();
    expect(service.kept).toEqual([]);
  });

  test('a change while a draft is under way is kept after it, with the revision that it got', async () => {
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

  test('tries again while the service cannot be reached', async () => {
    const { keeper, service, change, state } = open();
    service.fails = 2;
    change();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(state().status).toBe('failed');
    expect(keeper.hasUnkept).toBe(true);
    await vi.runAllTimersAsync();
    expect(state().status).toBe('kept');
    expect(keeper.hasUnkept).toBe(false);
  });

  test('another draft is not overwritten until that is decided', async () => {
    const { keeper, service, change, state } = open();
    service.revision = 7;
    service.other = { revision: 7, flow_data: service.saved };
    change();
    await vi.runAllTimersAsync();
    expect(state().conflict).toEqual({ kind: 'draft', draft: service.other });
    change();
    await vi.runAllTimersAsync();
    expect(service.kept).toEqual([]);
    expect(await keeper.keepMine()).toBe(true);
    expect(service.kept.map(({ revision }) => revision)).toEqual([7]);
  });

  test('saving waits for the draft that is under way, and goes on from the new version', async () => {
    const { keeper, change, state } = open();
    change();
    void keeper.keepNow();
    expect(await keeper.save()).toBe(true);
    expect(state()).toMatchObject({ status: 'same', baseVersion: 2, revision: 0, isSaving: false });
    change();
    await vi.runAllTimersAsync();
    expect(state()).toMatchObject({ status: 'kept', revision: 1 });
  });

  test('a version that somebody else saved is a conflict; mine is saved over it only when I say so', async () => {
    const { keeper, service, change, state } = open();
    service.version = 4;
    change();
    expect(await keeper.save('mine')).toBe(false);
    expect(state().conflict).toMatchObject({ kind: 'version', version: { version: 4 }, message: 'mine' });
    expect(service.version).toBe(4);
    expect(await keeper.keepMine()).toBe(true);
    expect(state()).toMatchObject({ status: 'same', baseVersion: 5, conflict: null });
  });

  test('what is adopted is not kept as a draft', async () => {
    const { keeper, service, change, state } = open();
    change();
    keeper.adopt({ version: 3 });
    keeper.changed();
    await vi.runAllTimersAsync();
    expect(service.kept).toEqual([]);
    expect(state()).toMatchObject({ status: 'same', baseVersion: 3 });
  });

  test('the same draft from elsewhere, or an answer that was lost, is no conflict', async () => {
    const { service, change, state } = open();
    service.revision = 7;
    service.other = { revision: 7, base_version: 1, flow_data: { edges: [], nodes: [], count: 1 } };
    change();
    await vi.runAllTimersAsync();
    expect(state()).toMatchObject({ status: 'kept', revision: 7, conflict: null });
    const again = open();
    Object.assign(again.service, { version: 2, saved: { nodes: [], edges: [], count: 1 } });
    again.change();
    expect(await again.keeper.save()).toBe(true);
    expect(again.state()).toMatchObject({ status: 'same', conflict: null });
  });

  test('a draft whose answer was lost is gone on from, whatever has changed here since', async () => {
    const { keeper, service, change, state } = open();
    service.lost = 2;
    change();
    await vi.advanceTimersByTimeAsync(1_000);
    change();
    expect(keeper.left).toMatchObject({ flow: { count: 2 }, revision: 0, sent: { count: 1 } });
    await vi.runAllTimersAsync();
    expect(service.kept.map(({ revision }) => revision)).toEqual([0, 1]);
    expect(state()).toMatchObject({ status: 'kept', revision: 2, conflict: null });
  });

  test('so is a version whose answer was lost', async () => {
    const { keeper, service, change, state } = open();
    change();
    await vi.runAllTimersAsync();
    service.lost = 1;
    await expect(keeper.save()).rejects.toThrow('fetch failed');
    change();
    await vi.runAllTimersAsync();
    expect(state()).toMatchObject({ status: 'kept', conflict: null });
    expect(await keeper.save()).toBe(true);
    expect(state()).toMatchObject({ status: 'same', baseVersion: 3, conflict: null });
  });

  test('a save does not throw away a draft that this window has not seen', async () => {
    const { keeper, service, change, state } = open();
    service.revision = 7;
    service.other = { revision: 7, base_version: 1, flow_data: service.saved };
    change();
    expect(await keeper.save()).toBe(false);
    expect([state().conflict?.kind, service.version]).toEqual(['draft', 1]);
    await keeper.keepBoth();
    expect(service.kept.map(({ revision }) => revision)).toEqual([7]);
    expect(await keeper.save()).toBe(true);
  });

  test('what both come to follows the version that was taken in', async () => {
    const { keeper, service, change, state } = open();
    service.version = 4;
    change();
    await keeper.save();
    await keeper.keepBoth();
    expect(service.kept.at(-1)).toMatchObject({ baseVersion: 4 });
    expect(state()).toMatchObject({ status: 'kept', conflict: null });
    expect(await keeper.save()).toBe(true);
  });

  test('what the service does not have is left behind, until it has it', async () => {
    const { keeper, service, change } = open();
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
    expect(keeper.left).toMatchObject({ flow: { count: 3 }, revision: 1, sent: { count: 2 } });
    release();
    await vi.runAllTimersAsync();
  });

  test('nothing is begun any more once the page has gone', async () => {
    const { keeper, service, change } = open();
    service.fails = 1;
    change();
    void keeper.keepNow();
    keeper.stop();
    await vi.runAllTimersAsync();
    expect([service.kept, service.fails]).toEqual([[], 0]);
  });
});
