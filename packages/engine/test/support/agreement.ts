import { expect } from 'vitest';
import type { Flow, NodeRecord } from '../../src/index.ts';
import { differenceOf, type Expected, evaluateFlow } from './reference-model.ts';
import { isEnded, nameOf } from './world.ts';

/** What of an execution is compared with the model. */
export interface Ended {
  readonly status: string;
  readonly error: { readonly nodeId: string | null } | null;
  /** In the order of storing. */
  readonly records: readonly NodeRecord[];
  readonly consumedAiTokens: number;
}

/**
 * Compares an end with the model; a cancelled, failed or stopped execution is compared as far as it came.
 * @throws AssertionError
 */
export function agree(flow: Flow, end: Ended): void {
  const expected = evaluateFlow(flow);
  const records = new Map<string, NodeRecord>();
  for (const record of end.records) {
    if (record.status !== 'iteration_ended') records.set(nameOf(record.nodeId, record.iteration), record);
  }
  const isStopped = end.records.some((record) => record.status === 'success' && record.isStop === true);
  for (const [name, record] of records) {
    // What was not started when it ended is told as skipped.
    if (!isEnded(record) || (isStopped && record.status === 'skipped')) continue;
    if (isSummary(record) && !isToldByLoop(flow, record.nodeId, records)) continue;
    const node = expected.get(name);
    if (node === undefined) throw new Error(`a record of the unknown ${name}`);
    expect(differenceOf(record, node), name).toBeNull();
  }
  const top = flow.nodes.filter(({ parentId }) => parentId === undefined).map(({ id }) => id);
  const failing = top.filter((id) => expected.get(id)?.fails === true);
  const stopping = top.filter((id) => expected.get(id)?.stops === true);
  if (end.status === 'failed') {
    expect(failing).toContain(end.error?.nodeId);
  } else if (isStopped) {
    const stopped = [...records.values()].filter((record) => record.status === 'success' && record.isStop);
    expect(stopping).toEqual(expect.arrayContaining(stopped.map(({ nodeId }) => nodeId)));
    expect(stopped).toHaveLength(1);
  } else if (end.status === 'completed') {
    expect([failing, stopping]).toEqual([[], []]);
    agreeOnTheWhole(flow, expected, records, end.consumedAiTokens);
  }
}

function agreeOnTheWhole(
  flow: Flow,
  expected: ReadonlyMap<string, Expected>,
  records: ReadonlyMap<string, NodeRecord>,
  consumedAiTokens: number,
): void {
  const told = flow.nodes.map(({ id }) => id).filter((id) => isToldByLoop(flow, id, records));
  expect(told.filter((id) => !records.has(id))).toEqual([]);
  const tokens = flow.nodes.flatMap(({ id, parentId }) =>
    parentId === undefined ? [expected.get(id)?.tokens ?? null] : [],
  );
  if (tokens.includes(null)) return;
  expect(consumedAiTokens).toBe(tokens.reduce((sum: number, count) => sum + (count ?? 0), 0));
}

function isSummary(record: NodeRecord): boolean {
  return record.status !== 'iteration_ended' && record.iterations !== undefined;
}

/** Whether all loops around a node ended well, so that its summary is that of their last iterations. */
function isToldByLoop(flow: Flow, nodeId: string, records: ReadonlyMap<string, NodeRecord>): boolean {
  const loop = flow.nodes.find(({ id }) => id === nodeId)?.parentId;
  if (loop === undefined || loop === null) return true;
  const record = records.get(loop);
  if (record?.status === 'skipped') return isToldByLoop(flow, loop, records);
  if (record?.status !== 'success') return false;
  // An iteration that failed and was collected may leave nodes without a record.
  const { errors } = record.output;
  return !(Array.isArray(errors) && errors.length > 0) && isToldByLoop(flow, loop, records);
}
