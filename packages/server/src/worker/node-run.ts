import { createHash } from 'node:crypto';
import {
  type AbortReason,
  type ClaimedExecution,
  type Effect,
  failure,
  type HttpClient,
  type JsonObject,
  type JsonValue,
  type NodeContext,
  type NodeResult,
} from '@millrace/engine';

/** One attempt of one node; also all that the node sees of the process. */
export class NodeRun implements NodeContext {
  readonly config: JsonObject;
  readonly node: NodeContext['node'];
  readonly execution: NodeContext['execution'];
  readonly triggerData: JsonValue;
  readonly inputs: { readonly [nodeId: string]: JsonObject };
  readonly inputOrder: readonly string[];
  readonly attempt: number;
  readonly http: HttpClient;
  readonly now: () => number;
  readonly #run: (context: NodeContext) => NodeResult | Promise<NodeResult>;
  readonly #startedAtMs: number;
  #controller: AbortController | null = null;

  constructor(
    claimed: ClaimedExecution,
    effect: Extract<Effect, { kind: 'start_node' }>,
    http: HttpClient,
    clock: { now(): number },
  ) {
    this.config = effect.config;
    this.node = { id: effect.node.id, label: effect.node.label };
    this.execution = {
      id: claimed.lease.executionId,
      workflowId: claimed.workflowId,
      organisationId: claimed.organisationId,
      isTestMode: claimed.isTestMode,
    };
    this.triggerData = claimed.input;
    this.inputs = effect.inputs;
    this.inputOrder = effect.inputOrder;
    this.attempt = effect.attempt;
    this.http = http;
    this.now = () => clock.now();
    this.#run = (context) => effect.node.definition.run(context);
    this.#startedAtMs = claimed.startedAtMs;
  }

  /** Made when it is first asked for: most nodes are pure and end before they could be aborted. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  /** The execution's first start is part of it, because ids of executions are unique in one database only. */
  get idempotencyKey(): string {
    const name = JSON.stringify([this.execution.id, this.#startedAtMs, this.node.id]);
    return `${this.execution.id}-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
  }

  /** Runs the node. What it throws is a failure: a fault of the node that another attempt would repeat. */
  begin(): NodeResult | Promise<NodeResult> {
    try {
      const result = this.#run(this);
      return isPromise(result) ? result.catch(thrownFailure) : result;
    } catch (error) {
      return thrownFailure(error);
    }
  }

  abort(reason: AbortReason): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(new Error(`aborted: ${reason}`));
  }
}

function isPromise(result: NodeResult | Promise<NodeResult>): result is Promise<NodeResult> {
  return result instanceof Promise;
}

function thrownFailure(error: unknown): NodeResult {
  const reason = error instanceof Error ? error.message : String(error);
  return failure('node_error', `The node failed unexpectedly: ${reason}`);
}
