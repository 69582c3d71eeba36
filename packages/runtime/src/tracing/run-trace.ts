import type { AttemptResult, ClaimedExecution, Effect } from '@millrace/engine';
import type { OutgoingTrace } from './outgoing.ts';
import { formatTraceparent } from './trace-context.ts';
import type { FinishedSpan, OpenSpan, TracedExecution, Tracer } from './tracer.ts';

/** The ids of an execution in log lines. */
export interface LogIds {
  readonly execution_id: number;
  readonly trace_id?: string;
}

/** An execution as traces show it. */
export function traced(claimed: ClaimedExecution): TracedExecution {
  const {
    lease,
    startedAs,
    organisationId,
    workflowId,
    workflowVersion,
    isTestMode,
    startedAtMs,
    traceparent,
  } = claimed;
  const { executionId } = lease;
  return {
    executionId,
    startedAs: startedAs ?? null,
    organisationId,
    workflowId,
    workflowVersion,
    isTestMode,
    startedAtMs,
    traceparent: traceparent ?? null,
  };
}

/** @param tracer null if no spans are recorded */
export function logIdsOf(tracer: Tracer | null, claimed: ClaimedExecution): LogIds {
  const { executionId } = claimed.lease;
  if (tracer === null) return { execution_id: executionId };
  return { execution_id: executionId, trace_id: tracer.spanOf(traced(claimed)).context.traceId };
}

/** The spans of the nodes of one run. Those from before its execution is stored are recorded once it is. */
export class RunTrace {
  readonly #tracer: Tracer;
  readonly #execution: TracedExecution;
  readonly #span: OpenSpan;
  #unstored: FinishedSpan[] | null = [];

  constructor(tracer: Tracer, claimed: ClaimedExecution) {
    this.#tracer = tracer;
    this.#execution = traced(claimed);
    this.#span = tracer.spanOf(this.#execution);
  }

  beginNode(): OpenSpan {
    return this.#tracer.beginNode(this.#span);
  }

  /** The context for what a node's attempt causes. */
  contextOf(node: OpenSpan): OutgoingTrace {
    return { traceparent: formatTraceparent(node.context), header: this.#tracer.headerOf(node) };
  }

  endNode(
    open: OpenSpan,
    { node, iteration, attempt, resumed }: Extract<Effect, { kind: 'start_node' }>,
    result: AttemptResult,
    { endMs, ms }: { readonly endMs: number; readonly ms: number },
  ): void {
    const { id, type, kind } = node;
    const span = this.#tracer.nodeSpan(
      open,
      this.#execution,
      { id, type, kind, iteration, attempt, isResumed: resumed !== undefined },
      result,
      { startMs: endMs - ms, endMs },
    );
    if (span === null) return;
    if (this.#unstored === null) this.#tracer.record(span);
    else this.#unstored.push(span);
  }

  /** The execution is stored. */
  stored(): void {
    const spans = this.#unstored ?? [];
    this.#unstored = null;
    for (const span of spans) this.#tracer.record(span);
  }

  cancelled(endMs: number): void {
    this.#tracer.endExecution(this.#execution, 'cancelled', null, endMs);
  }
}
