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
  type NodeServices,
  RenderLimitError,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { reasonOf } from '@millrace/messages/explained-error';
import { maskSecrets } from './mask.ts';
import { type Caller, SERVICE_NAMES, type Services, servicesFor } from './node-services.ts';

type StartNode = Extract<Effect, { kind: 'start_node' }>;

/** What a node's attempt needs from the process. */
export interface NodeRunDeps {
  /** HTTP under an organisation's egress rules. */
  readonly http: (organisationId: number) => HttpClient;
  readonly clock: { now(): number };
  readonly services: Services;
}

/** One attempt of one node, and all that the node sees of the process. */
export class NodeRun implements NodeContext {
  readonly config: JsonObject;
  readonly node: NodeContext['node'];
  readonly execution: NodeContext['execution'];
  readonly triggerData: JsonValue;
  readonly inputs: { readonly [nodeId: string]: JsonObject };
  readonly inputOrder: readonly string[];
  readonly attempt: number;
  readonly previousOutput: JsonObject | null;
  readonly iteration: readonly number[];
  readonly aiTokensLeft: number | null;
  readonly timezone: string | null;
  readonly http: HttpClient;
  readonly now: () => number;
  readonly render: NodeContext['render'];
  declare readonly credentials: NodeServices['credentials'];
  declare readonly mail: NodeServices['mail'];
  declare readonly sql: NodeServices['sql'];
  declare readonly ai: NodeServices['ai'];
  declare readonly code: NodeServices['code'];
  declare readonly data: NodeServices['data'];
  declare readonly workflows: NodeServices['workflows'];
  declare readonly callbacks: NodeServices['callbacks'];
  declare readonly tools: NodeServices['tools'];
  readonly #effect: StartNode;
  readonly #services: Services;
  readonly #startedAtMs: number;
  #madeServices: NodeServices | null = null;
  #secrets: Set<string> | null = null;
  #controller: AbortController | null = null;

  constructor(claimed: ClaimedExecution, effect: StartNode, { http, clock, services }: NodeRunDeps) {
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
    this.previousOutput = effect.previousOutput;
    this.iteration = effect.iteration;
    this.aiTokensLeft = effect.aiTokensLeft;
    this.timezone = effect.timezone;
    this.http = http(claimed.organisationId);
    this.now = () => clock.now();
    this.render = effect.render;
    this.#effect = effect;
    this.#services = services;
    this.#startedAtMs = claimed.startedAtMs;
  }

  /** Created on first use: most nodes are pure and end before they could be aborted. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  /** Includes the execution's first start, because execution ids are unique within one database only. */
  get idempotencyKey(): string {
    const place = [this.execution.id, this.#startedAtMs, this.node.id];
    const name = JSON.stringify(this.iteration.length === 0 ? place : [...place, this.iteration]);
    return `${this.execution.id}-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
  }

  static {
    for (const name of SERVICE_NAMES) {
      const get = function (this: NodeRun): unknown {
        return this.#ownServices()[name];
      };
      Object.defineProperty(NodeRun.prototype, name, { get });
    }
  }

  /**
   * Runs the node, or resumes it after its wait. Anything it throws becomes a failure: a defect of the node that another
   * attempt would repeat.
   */
  begin(): NodeResult | Promise<NodeResult> {
    try {
      const result = this.#call();
      return isPromise(result)
        ? result.catch(thrownFailure).then((ended) => this.#mask(ended))
        : this.#mask(result);
    } catch (error) {
      return this.#mask(thrownFailure(error));
    }
  }

  abort(reason: AbortReason): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(new Error(`aborted: ${reason}`));
  }

  #call(): NodeResult | Promise<NodeResult> {
    const { node, resumed } = this.#effect;
    if (resumed === undefined) return node.definition.run(this);
    if (node.definition.resume === undefined) {
      return failure('node_error', message('run.no_resume', { type: node.type }));
    }
    return node.definition.resume(this, resumed.signal, resumed.waiting);
  }

  #mask(result: NodeResult): NodeResult {
    return this.#secrets === null ? result : maskSecrets(result, this.#secrets);
  }

  #ownServices(): NodeServices {
    this.#madeServices ??= servicesFor(this.#services, this.#caller(), () => this);
    return this.#madeServices;
  }

  #caller(): Caller {
    const { id: executionId, organisationId, workflowId, isTestMode } = this.execution;
    return {
      organisationId,
      workflowId,
      executionId,
      nodeId: this.node.id,
      iteration: this.iteration,
      ...(this.#effect.loopAttempts === undefined ? {} : { loopAttempts: this.#effect.loopAttempts }),
      idempotencyKey: this.idempotencyKey,
      isTestMode,
      onSecret: (secret) => {
        this.#secrets ??= new Set();
        this.#secrets.add(secret);
      },
    };
  }
}

function isPromise(result: NodeResult | Promise<NodeResult>): result is Promise<NodeResult> {
  return result instanceof Promise;
}

function thrownFailure(error: unknown): NodeResult {
  if (error instanceof RenderLimitError) return failure(error.code, error.explanation);
  return failure('node_error', message('run.node_failed', { reason: reasonOf(error) }));
}
