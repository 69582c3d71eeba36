import type { Evidence } from './evidence.ts';
import { contentOf, type PlannedStart, sha256Of } from './mix.ts';

const BEGAN_MS = Date.UTC(2026, 0, 1);

interface Ended {
  readonly id: number;
  readonly start: PlannedStart;
  readonly result: { readonly [name: string]: unknown };
  readonly nodes: readonly string[];
}

const ENDED: readonly Ended[] = [
  {
    id: 1,
    start: { marker: 'pure-1', kind: 'pure', hasKey: true, isRepeated: true, input: { n: 17 } },
    result: { upper: 'PURE-1', n: 17 },
    nodes: [],
  },
  {
    id: 2,
    start: { marker: 'calls-2', kind: 'calls', hasKey: false, isRepeated: false, input: {} },
    result: { marker: 'calls-2', first: 200, second: 200 },
    nodes: ['first', 'second'],
  },
  {
    id: 3,
    start: { marker: 'callback-3', kind: 'callback', hasKey: false, isRepeated: false, input: {} },
    result: { marker: 'callback-3', value: 'callback-3#1' },
    nodes: ['wait', 'after'],
  },
  {
    id: 4,
    start: { marker: 'cancelled-4', kind: 'cancelled', hasKey: false, isRepeated: false, input: {} },
    result: { marker: 'cancelled-4' },
    nodes: ['before', 'after'],
  },
  {
    id: 5,
    start: { marker: 'file-5', kind: 'file', hasKey: false, isRepeated: false, input: { size: 40 } },
    result: {
      marker: 'file-5',
      sha256: sha256Of(contentOf('file-5', 40)),
      file: { $file: 'f', name: 'f', type: 'text/plain', size: 40, sha256: '' },
    },
    nodes: ['fetch'],
  },
  {
    id: 6,
    start: { marker: 'newest-6', kind: 'newest', hasKey: false, isRepeated: false, input: { key: 1 } },
    result: { marker: 'newest-6' },
    nodes: ['before', 'after'],
  },
  {
    id: 7,
    start: { marker: 'newest-7', kind: 'newest', hasKey: false, isRepeated: false, input: { key: 1 } },
    result: { marker: 'newest-7' },
    nodes: ['before', 'after'],
  },
];

/** The evidence of a small campaign in which all went well. */
export function calm(): Evidence {
  const finals = ENDED.map(({ id }) => {
    return [id, { id, status: 'completed', completedAtMs: BEGAN_MS + 900, error: null }] as const;
  });
  const calls = ENDED.flatMap(({ id, start, nodes }) =>
    nodes.map((node) => ({
      marker: start.marker,
      executionId: id,
      node,
      index: 0,
      deliveryKey: `${id}-${node}`,
      atMs: BEGAN_MS + 100,
      endedAtMs: BEGAN_MS + 200,
      path: '/work',
    })),
  );
  const fires = [0, 1, 2, 3].map((n) => ({
    fireTime: new Date(BEGAN_MS + n * 1_000),
    outcome: 'started',
    executionId: 50 + n,
  }));
  return {
    starts: ENDED.map(({ id, start }) => ({
      ...start,
      answers: Array.from({ length: start.isRepeated ? 2 : 1 }, (_, n) => ({
        kind: 'accepted',
        executionId: id,
        isReplay: n > 0,
        body: `{"execution_id":${id}}`,
      })),
    })),
    executions: ENDED.map(({ id, start }) => ({
      id,
      status: 'completed',
      claim: 1,
      crashed_attempts: 0,
      worker_id: null,
      error: null,
      completed_at: new Date(BEGAN_MS + 900),
      cancel_code: null,
      cancelled_for: null,
      marker: start.marker,
    })),
    details: new Map(
      ENDED.map(({ id, result }) => [
        id,
        { status: 'completed', node_outputs: { result: { status: 'success', output: result } } },
      ]),
    ),
    calls,
    nodeEnds: calls.map(({ executionId, node, endedAtMs }) => ({
      executionId,
      node,
      iteration: [],
      recordedAtMs: endedAtMs,
    })),
    callbacks: [{ marker: 'callback-3', value: 'callback-3#1', status: 200, code: null }],
    cancels: [{ executionId: 4, status: 409, code: 'execution_final' }],
    firstFinals: new Map(finals),
    lastFinals: new Map(finals),
    fires,
    scheduled: fires.map(({ fireTime, executionId }) => ({ id: executionId, at: fireTime.toISOString() })),
    releases: [{ was_due: true, released: 1, intervals: 1 }],
    files: new Map([[5, sha256Of(contentOf('file-5', 40))]]),
    putOff: 0,
    takeOvers: [],
    faults: [],
    processes: [],
  };
}
