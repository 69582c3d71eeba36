import { describe, expect, it } from 'vitest';
import {
  type JsonObject,
  type JsonValue,
  type NodeRecord,
  type Plan,
  recordsToKeep,
  requestIn,
  startedBy,
  startRecords,
  success,
  triggerAt,
} from '../src/index.ts';
import { Drive } from './support/drive.ts';
import { flowOf, planOf } from './support/index.ts';

const echo = (value: JsonValue) => ({ type: 'test.echo', config: { value } });

/** Two triggers, `t` and `u`: `a` follows `t`, `b` follows `u`, and `both` follows a and b. */
const FLOW = flowOf(
  {
    u: { type: 'test.trigger' },
    a: echo('{{trigger.data.x}}'),
    b: echo('{{trigger.request.method}} {{nodes.u.output.data.x}}'),
    both: echo('{{nodes.a.output.value}}|{{nodes.b.output.value}}'),
  },
  ['t -> a', 'u -> b', 'a -> both', 'b -> both'],
);

/** Runs an execution to its end: an echo gives its config. @returns the latest record of each node */
function run(plan: Plan, records: readonly NodeRecord[]): Map<string, NodeRecord> {
  const drive = new Drive(plan, { triggerData: { x: 1 } }, records);
  for (const id of ['a', 'b', 'both']) {
    const started = drive.lastStart(id);
    if (started !== undefined) drive.end(id, success(started.config as JsonObject));
  }
  expect(drive.outcome()).toEqual({ status: 'completed' });
  return new Map([...records.map((record) => [record.nodeId, record] as const), ...drive.stored()]);
}

function start(plan: Plan, trigger: string, request?: JsonValue): Map<string, NodeRecord> {
  const at = triggerAt(plan, trigger);
  if (at === undefined) throw new Error(`no trigger ${trigger}`);
  return run(plan, startRecords(plan, at, { data: { x: 1 }, request }, 1_000));
}

const statuses = (records: ReadonlyMap<string, NodeRecord>) =>
  Object.fromEntries([...records].map(([id, { status }]): [string, string] => [id, status]).toSorted(byId));
const byId = ([a]: [string, string], [b]: [string, string]) => (a < b ? -1 : 1);

describe('several triggers', () => {
  it('E32: what only the others lead to is skipped, and nothing waits for it', () => {
    const plan = planOf(FLOW);
    expect(plan.triggers.map(({ id }) => id)).toEqual(['t', 'u']);
    expect(statuses(start(plan, 't'))).toEqual({
      ...{ t: 'success', u: 'skipped', a: 'success', b: 'skipped', both: 'success' },
    });
    expect(statuses(start(plan, 'u'))).toEqual({
      ...{ t: 'skipped', u: 'success', a: 'skipped', b: 'success', both: 'success' },
    });
  });

  it('E1 E32: templates read the trigger that started', () => {
    const plan = planOf(FLOW);
    const output = (records: ReadonlyMap<string, NodeRecord>, id: string) => {
      const record = records.get(id);
      return record !== undefined && 'output' in record ? record.output : null;
    };
    expect(output(start(plan, 't', { method: 'GET' }), 'both')).toEqual({ value: '1|' });
    const records = start(plan, 'u', { method: 'PUT' });
    expect(output(records, 'b')).toEqual({ value: 'PUT 1' });
    expect(requestIn(plan, [...records.values()])).toEqual({ request: { method: 'PUT' }, atMs: 1_000 });
  });

  it('E32: a start that names none begins at the first, and needs no record', () => {
    const plan = planOf(FLOW);
    expect(startRecords(plan, plan.trigger, { data: 1 }, 1_000)).toEqual([]);
    expect(startedBy(plan, [])).toBe(plan.trigger);
    expect(statuses(run(plan, []))).toMatchObject({ t: 'success', u: 'skipped' });
  });

  it('E24 E32: a rerun keeps the trigger; if it is gone, it begins at the first', () => {
    const plan = planOf(FLOW);
    const records = [...start(plan, 'u').values()];
    expect(startedBy(plan, recordsToKeep(plan, records)).id).toBe('u');
    expect(startedBy(plan, recordsToKeep(plan, records, { from: 'both' })).id).toBe('u');
    const { u: _u, b: _b, ...others } = { u: 0, a: echo('{{trigger.data.x}}'), b: 0, both: echo('1') };
    const later = planOf(flowOf(others, ['t -> a', 'a -> both']));
    const kept = recordsToKeep(later, records, { former: plan });
    expect(kept).toEqual([]);
    expect(statuses(run(later, kept))).toEqual({ t: 'success', a: 'success', both: 'success' });
  });
});
