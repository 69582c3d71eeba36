import { success } from '@millrace/engine';
import { describe, expect, test } from 'vitest';
import { withTraceparent } from './outgoing.ts';
import { RunTrace } from './run-trace.ts';
import { formatTraceparent, parseTraceparent } from './trace-context.ts';
import { createSampler, type FinishedSpan, type Sampler, Tracer } from './tracer.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';
const HEADER = `00-${TRACE_ID}-${SPAN_ID}-01`;
const EXECUTION = { executionId: 7, organisationId: 1, workflowId: 3, startedAtMs: 1_700_000_000_000 };

function tracer({
  sampler = () => true,
  propagates = true,
}: {
  sampler?: Sampler;
  propagates?: boolean;
} = {}) {
  const spans: FinishedSpan[] = [];
  return { spans, tracer: new Tracer({ sampler, propagates, onSpan: (span) => void spans.push(span) }) };
}

describe('traceparent', () => {
  test('is read and written as W3C Trace Context defines', () => {
    const context = { traceId: TRACE_ID, spanId: SPAN_ID, isSampled: true };
    expect(parseTraceparent(HEADER)).toEqual(context);
    expect(formatTraceparent(context)).toBe(HEADER);
    expect(parseTraceparent(`00-${TRACE_ID}-${SPAN_ID}-02`)).toMatchObject({ isSampled: false });
    // A later version may add to it.
    expect(parseTraceparent(`01-${TRACE_ID}-${SPAN_ID}-01-more`)).toEqual(context);
  });

  test.each([
    undefined,
    null,
    '',
    HEADER.toUpperCase(),
    ` ${HEADER}`,
    `${HEADER}-more`,
    `ff-${TRACE_ID}-${SPAN_ID}-01`,
    `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    `00-${TRACE_ID}-${SPAN_ID}`,
    'x'.repeat(100_000),
  ])('%j is none', (text) => {
    expect(parseTraceparent(text)).toBeNull();
  });

  test('is added to a call, unless it has one', () => {
    const trace = { traceparent: HEADER, header: HEADER };
    expect(withTraceparent({ headers: { accept: 'a/b' } }, trace).headers).toEqual({
      accept: 'a/b',
      traceparent: HEADER,
    });
    expect(withTraceparent({}, trace)).toEqual({ headers: { traceparent: HEADER } });
    expect(withTraceparent({ headers: new Headers({ a: 'b' }) }, trace).headers).toEqual({
      a: 'b',
      traceparent: HEADER,
    });
    for (const own of [
      { headers: { TraceParent: 'mine' } },
      { headers: new Headers({ traceparent: 'mine' }) },
    ]) {
      expect(withTraceparent(own, trace)).toBe(own);
    }
    const none = {};
    for (const nothing of [null, undefined, { traceparent: HEADER, header: null }]) {
      expect(withTraceparent(none, nothing)).toBe(none);
    }
  });
});

describe('the span of an execution', () => {
  test('is the same in every process, below what started it', () => {
    const [one, other] = [tracer().tracer, tracer().tracer];
    const span = one.spanOf({ ...EXECUTION, traceparent: HEADER });
    expect(span).toMatchObject({ context: { traceId: TRACE_ID, isSampled: true }, parentSpanId: SPAN_ID });
    expect(other.spanOf({ ...EXECUTION, traceparent: HEADER })).toEqual(span);
    expect(other.spanOf({ ...EXECUTION, executionId: 8, traceparent: HEADER }).context.spanId).not.toBe(
      span.context.spanId,
    );
  });

  test('begins a trace if nothing is known of what started it', () => {
    for (const traceparent of [null, undefined, 'nonsense']) {
      const { context, parentSpanId } = tracer().tracer.spanOf({
        ...EXECUTION,
        ...(traceparent === undefined ? {} : { traceparent }),
      });
      expect(parentSpanId).toBeNull();
      expect(parseTraceparent(formatTraceparent(context))).toEqual(context);
      expect(tracer().tracer.spanOf(EXECUTION).context).toEqual(context);
    }
  });

  test('is recorded with codes, not with messages, and only if its trace is', () => {
    const { tracer: on, spans } = tracer();
    on.endExecution(EXECUTION, 'failed', 'x'.repeat(1_000), 1_700_000_000_500);
    expect(spans).toMatchObject([
      { name: 'workflow 3', errorCode: 'x'.repeat(200), endMs: 1_700_000_000_500 },
    ]);
    const { tracer: off, spans: none } = tracer({ sampler: () => false });
    off.endExecution(EXECUTION, 'completed', null, 1_700_000_000_500);
    expect(none).toEqual([]);
  });
});

test('nodes that ran before their execution was stored are recorded once it is, or never', () => {
  const { tracer: on, spans } = tracer();
  const claimed = {
    lease: { executionId: 7, workerId: 'w', claim: 1 },
    ...EXECUTION,
    workflowVersion: 1,
    isTestMode: false,
    input: {},
    deadlineAtMs: null,
    records: [],
    signals: [],
  };
  const effect = {
    kind: 'start_node',
    node: { id: 'n', type: 'core.set', kind: 'pure' },
    iteration: [2, 0],
    attempt: 1,
  } as unknown as Parameters<RunTrace['endNode']>[1];
  const run = new RunTrace(on, claimed);
  const times = { endMs: 1_700_000_000_020, ms: 5 };
  run.endNode(run.beginNode(), effect, success({}), times);
  expect(spans).toEqual([]);
  run.stored();
  run.stored();
  run.endNode(run.beginNode(), effect, success({}), times);
  expect(spans).toHaveLength(2);
  expect(spans[0]).toMatchObject({
    name: 'core.set',
    startMs: 1_700_000_000_015,
    attributes: { 'millrace.node.iteration': '2.0', 'millrace.node.result': 'success' },
  });
});

describe('samplers', () => {
  const sampled = { traceId: TRACE_ID, spanId: SPAN_ID, isSampled: true };
  const unsampled = { ...sampled, isSampled: false };

  test.each([
    ['always_on', [true, true, true]],
    ['always_off', [false, false, false]],
    ['parentbased_always_on', [true, true, false]],
    ['parentbased_always_off', [false, true, false]],
  ] as const)('%s', (name, expected) => {
    const decide = createSampler(name, 1);
    expect([null, sampled, unsampled].map((parent) => decide(parent, TRACE_ID))).toEqual(expected);
  });

  test('a ratio decides by the trace, the same everywhere', () => {
    const ids = Array.from(
      { length: 1_000 },
      (_, index) => tracer().tracer.spanOf({ ...EXECUTION, executionId: index }).context.traceId,
    );
    const decide = createSampler('traceidratio', 0.25);
    const count = ids.filter((id) => decide(unsampled, id)).length;
    expect(count).toBeGreaterThan(180);
    expect(count).toBeLessThan(320);
    const more = createSampler('parentbased_traceidratio', 0.5);
    expect(ids.every((id) => !decide(null, id) || more(null, id))).toBe(true);
    expect(more(sampled, 'f'.repeat(32))).toBe(true);
    expect(createSampler('traceidratio', 0)(null, '0'.repeat(32))).toBe(false);
    expect(createSampler('traceidratio', 1)(null, 'f'.repeat(32))).toBe(true);
  });
});
