import type { Flow } from '@millrace/engine';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiProblem } from '../../../api/client.ts';
import { DraftKeeper, type KeeperApi } from './keeper.ts';

type Draft = Parameters<KeeperApi['keep']>[0];
type Kept = Awaited<ReturnType<KeeperApi['keep']>>;

/** A service with one draft, as the real one keeps it: a revision that is not the present one is refused. */
function open() {
  let count = 0;
  const service = {
    revision: 0,
    version: 1,
    kept: [] as Draft[],
    fails: 0,
    gate: Promise.resolve(),
    other: null as object | null,
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
      return {
        revision: service.revision,
        updated_at: `at ${service.revision}`,
        problems: [],
        handles: {},
        structure_errors: [],
      } as unknown as Kept;
    },
    save: async ({ baseVersion }) => {
      if (baseVersion !== service.version) {
        throw new ApiProblem(409, {
          code: 'version_conflict',
          version: { version: service.version },
        } as object);
      }
      service.version += 1;
      service.revision = 0;
      return { version: service.version } as never;
    },
  };
  const keeper = new DraftKeeper({
    api,
    flow: () => ({ nodes: [], edges: [], count }) as unknown as Flow,
    changeCount: () => count,
    initial: { status: 'same', keptAt: null, baseVersion: 1, revision: 0, structureErrors: [] },
    onChecked: () => undefined,
    onSaved: () => undefined,
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
    service.other = { revision: 7 };
    change();
    await vi.runAllTimersAsync();
    expect(state().conflict).toEqual({ kind: 'draft', draft: { revision: 7 } });
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
    expect(state().conflict).toEqual({ kind: 'version', version: { version: 4 }, message: 'mine' });
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
});
