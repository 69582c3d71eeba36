import type { Flow, NodeRecord } from '../../src/index.ts';
import { describeNode, PLAIN_SCRIPT, type Script } from './nodes.ts';

/** How one node must end; `never`: it depends on a node that fails the execution. */
export interface Expected {
  readonly status: 'success' | 'failed' | 'skipped' | 'never';
  readonly handles: readonly string[];
  readonly failures: number;
  readonly tokens: number;
  /** As the nodes after it see its output. */
  readonly text: string;
  readonly failsExecution: boolean;
}

/**
 * What a flow of `test.*` nodes must lead to, by recursion over the graph from the end: no queue, no events, no time.
 * Deliberately shares nothing with the engine.
 */
export function evaluateFlow(flow: Flow): ReadonlyMap<string, Expected> {
  const known = new Map<string, Expected>();
  const evaluate = (id: string): Expected => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const node = flow.nodes.find((candidate) => candidate.id === id);
    if (node === undefined) throw new Error(`no node ${id}`);
    const expected = node.type === 'test.trigger' ? TRIGGER : evaluateNode(id);
    known.set(id, expected);
    return expected;
  };
  const evaluateNode = (id: string): Expected => {
    const incoming = flow.edges.filter((edge) => edge.target === id);
    const sources = incoming.map((edge) => evaluate(edge.source));
    if (sources.some((source) => source.status === 'never' || source.failsExecution)) return NEVER;
    const live = incoming.filter((edge) =>
      evaluate(edge.source).handles.includes(edge.sourceHandle ?? 'out'),
    );
    if (live.length === 0) return SKIPPED;
    const seen = [...new Set(live.map((edge) => edge.source))].map(
      (from) => `${from}=${evaluate(from).text}`,
    );
    return evaluateScript(id, seen);
  };
  const evaluateScript = (id: string, seen: readonly string[]): Expected => {
    const data = flow.nodes.find((node) => node.id === id)?.data;
    const script = { ...PLAIN_SCRIPT, ...(data?.config?.script as unknown as Partial<Script> | undefined) };
    const maxAttempts = data?.retry?.max_attempts ?? 1;
    const tooOften = script.failures >= maxAttempts;
    if (tooOften || script.end === 'failure' || script.end === 'fatal') {
      const failures = tooOften ? maxAttempts : script.failures + 1;
      const isFatal = !tooOften && script.end === 'fatal';
      const failsExecution = isFatal || (data?.on_error ?? 'fail') === 'fail';
      const handles = failsExecution ? [] : [data?.on_error === 'branch' ? 'error' : 'out'];
      const text = 'error';
      return { status: 'failed', handles, failures, tokens: failures * script.tokens, text, failsExecution };
    }
    const isWait = script.end === 'wait';
    const tokens = (script.failures + (isWait ? 0 : 1)) * script.tokens;
    const handles = isWait ? ['out'] : script.handles;
    const text = describeNode(id, seen, whatIsSeen(data?.config?.see));
    return { status: 'success', handles, failures: script.failures, tokens, text, failsExecution: false };
  };
  /** The one template form that arbitrary flows hold: `{{nodes.<id>.output.text}}!`. */
  const whatIsSeen = (see: unknown): string | null => {
    if (typeof see !== 'string') return null;
    const id = /nodes\.(\w+)\./.exec(see)?.[1] ?? '';
    const { status, text } = evaluate(id);
    return `${status === 'success' && text !== 'trigger' ? text : ''}!`;
  };
  for (const node of flow.nodes) evaluate(node.id);
  return known;
}

const NOTHING = { handles: [], failures: 0, tokens: 0, text: '', failsExecution: false };
const TRIGGER: Expected = { ...NOTHING, status: 'success', handles: ['out'], text: 'trigger' };
const SKIPPED: Expected = { ...NOTHING, status: 'skipped' };
const NEVER: Expected = { ...NOTHING, status: 'never' };

/** In what an ended node's record differs from what was expected; null when it agrees. */
export function differenceOf(record: NodeRecord, expected: Expected): string | null {
  const actual = summaryOf(record);
  const wanted = JSON.stringify({
    status: expected.status,
    handles: expected.handles,
    failures: expected.failures,
    tokens: expected.tokens,
    text: expected.text,
  });
  return actual === wanted ? null : `${record.nodeId} is ${actual} but must be ${wanted}`;
}

function summaryOf(record: NodeRecord): string {
  if (record.status === 'skipped') {
    return JSON.stringify({ status: 'skipped', handles: [], failures: 0, tokens: 0, text: '' });
  }
  const ended = record.status === 'success' || record.status === 'failed';
  const text = ended ? (record.output.text ?? ('data' in record.output ? 'trigger' : 'error')) : '';
  return JSON.stringify({
    status: record.status,
    handles: ended ? record.handles : [],
    failures: record.failures ?? 0,
    tokens: record.consumedAiTokens,
    text,
  });
}
