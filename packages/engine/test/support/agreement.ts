import { expect } from 'vitest';
import type { Flow, NodeRecord } from '../../src/index.ts';
import { differenceOf, type Expected, evaluateFlow } from './reference-model.ts';
import { isEnded, nameOf } from './world-schedule.ts';

/** The part of an execution that is compared with the model. */
export interface Ended {
  readonly status: string;
  readonly error: { readonly code: string; readonly nodeId: string | null } | null;
  /** In storage order. */
  readonly records: readonly NodeRecord[];
  readonly consumedAiTokens: number;
}

/** They end the whole execution with the node that exceeded a limit, whatever its own end would have been. */
const LIMIT_CODES = ['token_budget_exceeded', 'execution_too_large'];

/**
 * Compares an end with the model; a cancelled, failed or stopped execution is compared as far as it got.
 * @throws AssertionError
 */
export function agree(flow: Flow, end: Ended): void {
  const expected = evaluateFlow(flow);
  const records = new Map<string, NodeRecord>();
  for (const record of end.records) {
    if (record.status !== 'iteration_ended') records.set(nameOf(record.nodeId, record.iteration), record);
  }
  const isStopped = end.records.some((record) => record.status === 'success' && record.isStop === true);
  const isOverLimit = LIMIT_CODES.includes(end.error?.code ?? '');
  const overBudget = isOverLimit ? (end.error?.nodeId ?? null) : null;
  for (const [name, record] of records) {
    // It ends with its last attempt, without a retry or successors.
    if (record.nodeId === overBudget) continue;
    // Nodes that weren't started when it ended are recorded as skipped.
    if (!isEnded(record) || (isStopped && record.status === 'skipped')) continue;
    if (isSummary(record) && !isReportedByLoop(flow, record.nodeId, record.iteration, records)) continue;
    const node = expected.get(name);
    if (node === undefined) throw new Error(`a record of the unknown ${name}`);
    expect(differenceOf(record, node), name).toBeNull();
  }
  const top = flow.nodes.filter(({ parentId }) => parentId === undefined).map(({ id }) => id);
  const ending = top.filter((id) => {
    const node = expected.get(id);
    return node?.fails === true || node?.endsAll === true;
  });
  if (end.status === 'failed') {
    agreeOnFailure(expected, top, end);
  } else if (isStopped) {
    const stopped = [...records.values()].filter((record) => record.status === 'success' && record.isStop);
    const [by, ...others] = new Set(stopped.map(({ nodeId }) => nodeId));
    expect(others).toEqual([]);
    expect([...expected].filter(([, { stops }]) => stops).map(([name]) => idIn(name))).toContain(by);
  } else if (end.status === 'completed') {
    expect(ending).toEqual([]);
    agreeOnTheWhole(flow, expected, records, end.consumedAiTokens);
  }
}

/** A top-level node that fails, or a fatal one anywhere; time and budget have no node to blame. */
function agreeOnFailure(
  expected: ReadonlyMap<string, Expected>,
  top: readonly string[],
  { error }: Pick<Ended, 'error'>,
): void {
  if (error?.code === 'execution_timeout' || error?.code === 'token_budget_exceeded') return;
  if (error?.code === 'execution_too_large') return;
  const codes = new Map<string, string | null>();
  for (const [name, { fails, isFatal, code }] of expected) {
    if (isFatal || (fails && top.includes(name))) codes.set(idIn(name), code);
  }
  expect([...codes.keys()]).toContain(error?.nodeId);
  const code = codes.get(error?.nodeId ?? '');
  if (code !== null) expect(error?.code).toBe(code);
}

/** The node id in a name with its iteration. */
function idIn(name: string): string {
  return name.split(' ')[0] ?? '';
}

function agreeOnTheWhole(
  flow: Flow,
  expected: ReadonlyMap<string, Expected>,
  records: ReadonlyMap<string, NodeRecord>,
  consumedAiTokens: number,
): void {
  const reported = flow.nodes.map(({ id }) => id).filter((id) => isReportedByLoop(flow, id, [], records));
  expect(reported.filter((id) => !records.has(id))).toEqual([]);
  const tokens = flow.nodes.flatMap(({ id, parentId }) =>
    parentId === undefined ? [expected.get(id)?.tokens ?? null] : [],
  );
  if (tokens.includes(null)) return;
  expect(consumedAiTokens).toBe(tokens.reduce((sum: number, count) => sum + (count ?? 0), 0));
}

function isSummary(record: NodeRecord): boolean {
  return record.status !== 'iteration_ended' && record.iterations !== undefined;
}

/**
 * Whether all loops around a node, within an iteration of those further out, succeeded, so that its summary there is that of their last
 * iterations.
 */
function isReportedByLoop(
  flow: Flow,
  nodeId: string,
  iteration: readonly number[] = [],
  records: ReadonlyMap<string, NodeRecord>,
): boolean {
  const loops: string[] = [];
  for (let id = loopOf(flow, nodeId); id !== null; id = loopOf(flow, id)) loops.unshift(id);
  return loops.slice(iteration.length).every((loop) => {
    const record = records.get(nameOf(loop, iteration));
    if (record?.status === 'skipped') return true;
    if (record?.status !== 'success') return false;
    // An iteration that failed and was collected may leave nodes without a record.
    const { errors } = record.output;
    return !(Array.isArray(errors) && errors.length > 0);
  });
}

function loopOf(flow: Flow, nodeId: string): string | null {
  return flow.nodes.find(({ id }) => id === nodeId)?.parentId ?? null;
}
