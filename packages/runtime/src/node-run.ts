import { createHash } from 'node:crypto';
import {
  type AbortReason,
  type AttemptResult,
  type ClaimedExecution,
  type Effect,
  type ExecutionLimits,
  failure,
  type HostWait,
  type HttpClient,
  isWork,
  type JsonObject,
  type JsonValue,
  Meter,
  measureWork,
  type NodeContext,
  type NodeResult,
  type NodeServices,
  type OpenFile,
  originalId,
  type PlanNode,
  type PutOff,
  putOff,
  RenderLimitError,
  type Work,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { reasonOf } from '@millrace/messages/explained-error';
import type { DataHolding, ResponseHolding } from './data-budget.ts';
import { AbortedWorkError, drive, driveUnlimited, TooExpensiveError } from './drive.ts';
import { type Holder, handOver, hold } from './main-thread.ts';
import { maskSecrets, maskValue } from './mask.ts';
import { type Caller, SERVICE_NAMES, type Services, servicesFor } from './node-services.ts';
import { type OutgoingTrace, withTraceparent } from './tracing/outgoing.ts';

/** The parts of the engine's effect that a run reads. */
type StartNode = Omit<Extract<Effect, { kind: 'start_node' }>, 'kind' | 'node'> & {
  readonly node: Pick<PlanNode, 'id' | 'label' | 'type' | 'definition' | 'types'>;
};

/** What a node's attempt needs from the process. */
export interface NodeRunDeps {
  /** HTTP under an organisation's egress rules. */
  readonly http: (organisationId: number) => HttpClient;
  readonly clock: { now(): number };
  readonly services: Services;
  /** Maximum steps of work on one node's data. */
  readonly maxSteps: number;
  readonly limits: Pick<ExecutionLimits, 'inlineWaitMs' | 'maxOutputBytes'>;
}

/** Using these isn't an effect in itself: their calls wait for a host's turn, reads can be repeated, and a memory is written after a call. */
const HARMLESS: ReadonlySet<string> = new Set([
  'credentials',
  'files',
  'ai',
  'mail',
  'memory',
  'sql',
  'redis',
  'mongodb',
  'kafka',
]);

/** What a node's attempt needs from its run. */
export interface NodeRunControl {
  /** What the execution holds. */
  readonly data: DataHolding;
  /** The node waits until it may call a host. @returns a function to call when it stops waiting */
  waitForHost(): () => void;
  /** Whether the execution is certainly still leased to this worker; otherwise the run ends. */
  mayStillCall(): boolean;
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
  declare readonly redis: NodeServices['redis'];
  declare readonly mongodb: NodeServices['mongodb'];
  declare readonly kafka: NodeServices['kafka'];
  declare readonly ai: NodeServices['ai'];
  declare readonly code: NodeServices['code'];
  declare readonly documents: NodeServices['documents'];
  declare readonly data: NodeServices['data'];
  declare readonly memory: NodeServices['memory'];
  declare readonly vectors: NodeServices['vectors'];
  declare readonly workflows: NodeServices['workflows'];
  declare readonly callbacks: NodeServices['callbacks'];
  declare readonly tools: NodeServices['tools'];
  declare readonly files: NodeServices['files'];
  declare readonly contents: NodeServices['contents'];
  readonly #effect: StartNode;
  readonly #services: Services;
  readonly #originalId: number;
  readonly #startedAtMs: number;
  readonly #holder: Holder;
  readonly #maxSteps: number;
  /** Responses it has received or is receiving. */
  readonly #responses: ResponseHolding[] = [];
  #madeServices: NodeServices | null = null;
  #secrets: Set<string> | null = null;
  #controller: AbortController | null = null;
  readonly #control: NodeRunControl | null;
  readonly #maxWaitMs: number;
  readonly #maxOutputBytes: number;
  readonly #trace: OutgoingTrace | null;
  /** Whether it may have had external effects. */
  #hasActed = false;
  #putOff: PutOff | null = null;

  /**
   * @param control null before the execution is stored, when it calls nobody
   * @param trace the span of what it causes; null without tracing
   */
  constructor(
    claimed: ClaimedExecution,
    effect: StartNode,
    deps: NodeRunDeps,
    control: NodeRunControl | null,
    trace: OutgoingTrace | null = null,
  ) {
    const { http, clock, services, maxSteps, limits } = deps;
    this.#control = control;
    this.#trace = trace;
    this.#maxWaitMs = limits.inlineWaitMs;
    this.#maxOutputBytes = limits.maxOutputBytes;
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
    this.#holder = { executionId: claimed.lease.executionId, nodeId: effect.node.id };
    this.#maxSteps = maxSteps;
    this.http = this.#counted(http(claimed.organisationId), control?.data ?? null);
    this.now = () => clock.now();
    this.render = effect.render;
    this.#effect = effect;
    this.#services = services;
    this.#originalId = originalId(claimed);
    this.#startedAtMs = claimed.startedAtMs;
  }

  /** Created on first use: most nodes are pure and end before they could be aborted. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  /** Includes the execution's first start, because execution ids are unique within one database only. */
  get idempotencyKey(): string {
    const place = [this.#originalId, this.#startedAtMs, this.node.id];
    const name = JSON.stringify(this.iteration.length === 0 ? place : [...place, this.iteration]);
    return `${this.#originalId}-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
  }

  static {
    for (const name of SERVICE_NAMES) {
      const get = function (this: NodeRun): unknown {
        if (!HARMLESS.has(name)) this.#hasActed = true;
        return this.#ownServices()[name];
      };
      Object.defineProperty(NodeRun.prototype, name, { get });
    }
  }

  /**
   * Runs the node, or resumes it after its wait. Anything it throws becomes a failure: a defect of the node that another
   * attempt would repeat.
   */
  begin(): AttemptResult | Promise<AttemptResult> {
    const ended = this.#attempt(() => this.#call());
    if (!(ended instanceof Promise)) return this.#finish(ended);
    // Regardless of the node's result: its only call wasn't made.
    return ended.then((result) => this.#putOff ?? this.#finish(result));
  }

  async inTurns<Result>(make: (meter: Meter) => Work<Result>): Promise<Result> {
    return await this.#drive(make(new Meter()));
  }

  async readWhole(file: OpenFile): Promise<Uint8Array> {
    const room = this.#control?.data.beginResponse();
    if (room !== undefined) this.#responses.push(room);
    try {
      // Base64 of it, and the body with that, are less than the budget allows for a byte of JSON (docs/adr/0039-bytes-one-worker-holds.md).
      await room?.take(file.size, this.signal);
      const pieces: Uint8Array[] = [];
      for await (const piece of file.read()) pieces.push(piece);
      return Buffer.concat(pieces);
    } catch (error) {
      room?.release();
      throw error;
    } finally {
      room?.arrived();
      handOver(this.#holder);
    }
  }

  abort(reason: AbortReason): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(new Error(`aborted: ${reason}`));
  }

  /** What it received is part of an output by now, or no longer needed. */
  releaseResponses(): void {
    for (const response of this.#responses.splice(0)) response.release();
  }

  /** Its responses take room in the budget, and what the node does with them is attributed to it. */
  #counted(http: HttpClient, data: DataHolding | null): HttpClient {
    const holder = this.#holder;
    const responses = this.#responses;
    const waitForHost = (): HostWait => this.#waitForHost();
    const trace = this.#trace;
    return {
      async send(request, signal) {
        const room = data?.beginResponse();
        if (room !== undefined) responses.push(room);
        try {
          return await http.send(withTraceparent(request, trace), signal, room, waitForHost());
        } catch (error) {
          room?.release();
          throw error;
        } finally {
          room?.arrived();
          handOver(holder);
        }
      },
    };
  }

  /** For its next call. Only the first one can be put off, because the attempt is repeated, with everything it has done. */
  #waitForHost(): HostWait {
    const isFirst = !this.#hasActed && this.#effect.resumed === undefined;
    this.#hasActed = true;
    const control = this.#control;
    return {
      maxWaitMs: isFirst ? this.#maxWaitMs : null,
      begin: () => control?.waitForHost() ?? (() => {}),
      putOff: (host, afterMs) => {
        this.#putOff = putOff(host, this.now() + afterMs);
      },
      checkLease: () => {
        if (control?.mayStillCall() !== true) throw new Error('the lease has ended');
      },
    };
  }

  #attempt(
    begin: () => NodeResult | Promise<NodeResult> | Work<NodeResult>,
  ): NodeResult | Promise<NodeResult> {
    try {
      const running = hold(this.#holder, begin);
      const ended = isWork(running) ? this.#drive(running) : running;
      return ended instanceof Promise ? ended.catch(thrownFailure) : ended;
    } catch (error) {
      return thrownFailure(error);
    }
  }

  #drive<Result>(work: Work<Result>): Result | Promise<Result> {
    const isAborted = (): boolean => this.#controller?.signal.aborted ?? false;
    return drive(work, { holder: this.#holder, maxSteps: this.#maxSteps, isAborted });
  }

  #call(): NodeResult | Promise<NodeResult> | Work<NodeResult> {
    const { node, resumed } = this.#effect;
    if (resumed === undefined) return node.definition.run(this);
    if (node.definition.resume === undefined) {
      return failure('node_error', message('run.no_resume', { type: node.type }));
    }
    return node.definition.resume(this, resumed.signal, resumed.waiting);
  }

  #mask(result: NodeResult): NodeResult | Promise<NodeResult> {
    const secrets = this.#secrets;
    return secrets === null ? result : this.#attempt(() => maskSecrets(result, secrets));
  }

  #finish(result: NodeResult): NodeResult | Promise<NodeResult> {
    const masked = this.#mask(result);
    return masked instanceof Promise ? masked.then((each) => this.#measure(each)) : this.#measure(masked);
  }

  /** Measures the output in turns and in advance: the engine's step, which checks and counts it, can't be interrupted. */
  #measure(result: NodeResult): NodeResult | Promise<NodeResult> {
    if (!('output' in result) || result.output === undefined) return result;
    const work = measureWork(result.output, this.#maxOutputBytes, new Meter());
    const done = driveUnlimited(work, this.#holder);
    return done instanceof Promise ? done.then(() => result) : result;
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
      types: this.#effect.node.types,
      ...(this.#trace === null ? {} : { trace: this.#trace }),
      waitForHost: () => this.#waitForHost(),
      onSecret: (secret) => {
        this.#secrets ??= new Set();
        this.#secrets.add(secret);
      },
      mask: (value) => {
        const secrets = this.#secrets;
        return secrets === null ? value : this.#drive(maskValue(value, secrets));
      },
    };
  }
}

function thrownFailure(error: unknown): NodeResult {
  if (error instanceof RenderLimitError || error instanceof TooExpensiveError) {
    return failure(error.code, error.explanation);
  }
  if (error instanceof AbortedWorkError) {
    return failure('aborted', message('nodes.steps_stopped'), { retryable: true });
  }
  return failure('node_error', message('run.node_failed', { reason: reasonOf(error) }));
}
