import type { AttemptResult, ClaimedExecution, NodeKind } from '@millrace/engine';
import {
  derivedId,
  formatTraceparent,
  newSpanId,
  newTraceId,
  parseTraceparent,
  type TraceContext,
} from './trace-context.ts';

/** Ids, names and codes; never data, messages or addresses. */
export type SpanAttributes = { readonly [name: string]: string | number | boolean };

/** A span that has ended. */
export interface FinishedSpan {
  readonly context: TraceContext;
  /** Null for the first of its trace. */
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: 'server' | 'internal' | 'client';
  /** Epoch milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** The error code; null for success. */
  readonly errorCode: string | null;
}

/** Whether a trace is recorded, decided by its id, so that every process decides the same. */
export type Sampler = (parent: TraceContext | null, traceId: string) => boolean;

/** A span that is under way. */
export interface OpenSpan {
  readonly context: TraceContext;
  readonly parentSpanId: string | null;
}

/** Identifies an execution in traces. */
export type TracedExecution = Pick<
  ClaimedExecution,
  'organisationId' | 'workflowId' | 'startedAtMs' | 'traceparent'
> & {
  readonly executionId: number;
  /** Its id in the instance where it was started; absent or null: its own. */
  readonly startedAs?: number | null;
  readonly workflowVersion?: number;
  readonly isTestMode?: boolean;
};

/** The parts of a node's attempt that its span shows. */
export interface TracedNode {
  readonly id: string;
  readonly type: string;
  readonly kind: NodeKind;
  readonly iteration: readonly number[];
  readonly attempt: number;
  readonly isResumed: boolean;
}

export interface TracerOptions {
  readonly sampler: Sampler;
  /** Whether `traceparent` is read from requests, and sent with calls. */
  readonly propagates: boolean;
  /** Called with every recorded span; must be quick. */
  readonly onSpan: (span: FinishedSpan) => void;
}

/** User-chosen text, such as node ids, is cut to this length. */
const MAX_CHARACTERS = 200;

/** Makes the spans of requests, executions and nodes. A process that records none has no tracer. */
export class Tracer {
  readonly #options: TracerOptions;

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  /** @param traceparent header of the request */
  beginRequest(traceparent: string | undefined): OpenSpan {
    const parent = this.#options.propagates ? parseTraceparent(traceparent) : null;
    return this.#below(parent, parent?.traceId ?? newTraceId(), newSpanId());
  }

  endRequest(
    { context, parentSpanId }: OpenSpan,
    request: Pick<FinishedSpan, 'name' | 'startMs' | 'endMs' | 'attributes' | 'errorCode'>,
  ): void {
    this.record({ ...request, context, parentSpanId, kind: 'server' });
  }

  /**
   * The span of an execution, from its first start to its end. Its ids are derived from what is stored, so any process that continues it
   * knows them.
   */
  spanOf({ executionId, startedAs, startedAtMs, traceparent }: TracedExecution): OpenSpan {
    const id = startedAs ?? executionId;
    const parent = parseTraceparent(traceparent);
    const traceId = parent?.traceId ?? derivedId(16, ['trace', id, startedAtMs]);
    return this.#below(parent, traceId, derivedId(8, ['execution', traceId, id, startedAtMs]));
  }

  /** @param code of its failure; null if it has none */
  endExecution(
    execution: TracedExecution,
    status: 'completed' | 'failed' | 'cancelled',
    code: string | null,
    endMs: number,
  ): void {
    const { context, parentSpanId } = this.spanOf(execution);
    if (!context.isSampled) return;
    const { executionId, organisationId, workflowId, workflowVersion, isTestMode, startedAtMs } = execution;
    this.record({
      context,
      parentSpanId,
      name: `workflow ${workflowId}`,
      kind: 'internal',
      startMs: startedAtMs,
      endMs,
      attributes: {
        'millrace.execution.id': executionId,
        'millrace.execution.status': status,
        'millrace.organisation.id': organisationId,
        'millrace.workflow.id': workflowId,
        ...(workflowVersion === undefined ? {} : { 'millrace.workflow.version': workflowVersion }),
        ...(isTestMode === true ? { 'millrace.test_mode': true } : {}),
      },
      errorCode: code?.slice(0, MAX_CHARACTERS) ?? null,
    });
  }

  /** The span of one attempt of a node, below that of its execution. */
  beginNode({ context }: OpenSpan): OpenSpan {
    return { context: { ...context, spanId: newSpanId() }, parentSpanId: context.spanId };
  }

  /** The finished span of an attempt, or of its part until it waits; null if its trace isn't recorded. */
  nodeSpan(
    { context, parentSpanId }: OpenSpan,
    execution: TracedExecution,
    node: TracedNode,
    result: AttemptResult,
    times: Pick<FinishedSpan, 'startMs' | 'endMs'>,
  ): FinishedSpan | null {
    if (!context.isSampled) return null;
    return {
      ...times,
      context,
      parentSpanId,
      name: node.type,
      kind: node.kind === 'effect' ? 'client' : 'internal',
      attributes: {
        'millrace.execution.id': execution.executionId,
        'millrace.organisation.id': execution.organisationId,
        'millrace.workflow.id': execution.workflowId,
        'millrace.node.id': node.id.slice(0, MAX_CHARACTERS),
        'millrace.node.type': node.type,
        'millrace.node.attempt': node.attempt,
        'millrace.node.result': result.kind,
        ...(node.iteration.length === 0 ? {} : { 'millrace.node.iteration': node.iteration.join('.') }),
        ...(node.isResumed ? { 'millrace.node.resumed': true } : {}),
      },
      errorCode: result.kind === 'failure' ? result.code.slice(0, MAX_CHARACTERS) : null,
    };
  }

  /** The `traceparent` header that other services get for a span; null for none. */
  headerOf({ context }: OpenSpan): string | null {
    return this.#options.propagates ? formatTraceparent(context) : null;
  }

  record(span: FinishedSpan): void {
    if (span.context.isSampled) this.#options.onSpan(span);
  }

  #below(parent: TraceContext | null, traceId: string, spanId: string): OpenSpan {
    const isSampled = this.#options.sampler(parent, traceId);
    return { context: { traceId, spanId, isSampled }, parentSpanId: parent?.spanId ?? null };
  }
}

/** The samplers of OpenTelemetry that need nothing but the trace. */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

/** @param ratio the share of all traces that samplers with a ratio record, from 0 to 1 */
export function createSampler(name: SamplerName, ratio: number): Sampler {
  const root = rootSampler(name, ratio);
  if (!name.startsWith('parentbased_')) return (_parent, traceId) => root(traceId);
  return (parent, traceId) => parent?.isSampled ?? root(traceId);
}

function rootSampler(name: SamplerName, ratio: number): (traceId: string) => boolean {
  if (name.endsWith('always_on')) return () => true;
  if (name.endsWith('always_off')) return () => false;
  // The last 56 bits are random in every trace id of level 2 of the W3C's recommendation.
  return (traceId) => Number.parseInt(traceId.slice(-13), 16) / 2 ** 52 < ratio;
}
