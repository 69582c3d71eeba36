import type { HostCallsState } from '@millrace/egress/host-limits';
import type { AttemptResult, ClaimedExecution } from '@millrace/engine';
import type { DataBudgetState } from '../data-budget.ts';
import type { SpanCounts } from '../tracing/span-queue.ts';
import { Busiest } from './busiest.ts';
import { CountsByName } from './counts-by-name.ts';
import { Histogram } from './histogram.ts';
import { RunTallies } from './run-tallies.ts';

const NODE_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.25, 1, 2.5, 10, 60, 300];
const EXECUTION_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 86_400];
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const LATENESS_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 3_600];
/** Far more than there are codes; workflows can choose their own. */
const MAX_CODES = 100;
const MAX_TRIGGERS = 20;
const TRIGGERS = ['api', 'webhook', 'form', 'chat', 'schedule', 'poll', 'manual', 'flow', 'error'];
/** Failures that alerts are about. */
const FAILURES = ['worker_crashed', 'execution_timeout', 'internal_error', 'storage_timeout'];
const REFUSALS = [
  'rate_limited',
  'queue_full',
  'rate_queue_full',
  'storage_full',
  'too_many_failed_authentications',
  'overloaded_process',
  'overloaded_queue',
  'overloaded_bodies',
  'database_unavailable',
  'shutting_down',
];
const POLLS = ['polled', 'failed', 'lost'];
const FIRES = ['started', 'queued', 'skipped'];
/** Minimum interval between rearrangements of the busiest. */
const REARRANGE_MS = 60_000;

/** What kind of client a request came from, and what it wanted. */
export type RequestKind = 'start' | 'webhook' | 'callback' | 'public' | 'admin' | 'other';

/** What is counted for each of the busiest organisations. */
export interface OrganisationMeter {
  accepted: number;
  completed: number;
  failed: number;
  aiTokens: number;
}

export interface NodeMeter {
  readonly seconds: Histogram;
  failed: number;
}

/** The worker's slots, borrowed ones included. */
export interface SlotCount {
  readonly all: number;
  readonly taken: number;
}

/** Room for bytes, and how much of it is in use. */
export interface ByteCount {
  readonly total: number;
  readonly used: number;
}

/**
 * What one process counts about its work. Counting is on hot paths and only adds numbers. Reading is rare and does
 * everything else.
 */
export class Meters {
  readonly accepted = new CountsByName(MAX_TRIGGERS, TRIGGERS);
  readonly failed = new CountsByName(MAX_CODES, FAILURES);
  readonly organisations: Busiest<OrganisationMeter>;
  /** How long executions took, by workflow. */
  readonly workflows: Busiest<Histogram>;
  /** Ends of executions that aren't in the statistics of their workflows yet. */
  readonly runs = new RunTallies();
  readonly nodes = new Map<string, NodeMeter>();
  readonly requests = new Map<RequestKind, Histogram>();
  /** Requests refused with 429 or 503, by the reason. */
  readonly refused = new CountsByName(MAX_CODES, REFUSALS);
  /** How late schedules fired. */
  readonly lateness = new Histogram(LATENESS_SECONDS);
  /** Fires of schedules by outcome. */
  readonly fires = new CountsByName(MAX_CODES, FIRES);
  /** Polls of triggers by outcome. */
  readonly polls = new CountsByName(MAX_CODES, POLLS);
  completed = 0;
  aiTokens = 0;
  leaseLosses = 0;
  takeOvers = 0;
  refusedConnections = 0;
  /** Set by whoever has them. */
  slots: (() => SlotCount) | null = null;
  bodies: (() => ByteCount) | null = null;
  data: (() => DataBudgetState) | null = null;
  hosts: (() => HostCallsState) | null = null;
  isShedding: (() => boolean) | null = null;
  /** Null if no traces are made. */
  spans: (() => SpanCounts) | null = null;
  #rearrangedAtMs = 0;

  /** @param busiest number of organisations and workflows with their own meter */
  constructor(busiest = 20) {
    this.organisations = new Busiest(busiest, () => ({ accepted: 0, completed: 0, failed: 0, aiTokens: 0 }));
    this.workflows = new Busiest(busiest, () => new Histogram(EXECUTION_SECONDS));
  }

  /** Starts of one organisation were stored. */
  startsAccepted(trigger: string, organisationId: number, count = 1): void {
    if (count === 0) return;
    this.accepted.add(trigger, count);
    this.organisations.use(organisationId).accepted += count;
  }

  /** The end of an execution was stored. @param code of its failure; null if it completed */
  executionEnded(
    { organisationId, workflowId }: Pick<ClaimedExecution, 'organisationId' | 'workflowId'>,
    code: string | null,
    seconds: number,
  ): void {
    const organisation = this.organisations.use(organisationId);
    if (code === null) {
      this.completed += 1;
      organisation.completed += 1;
    } else {
      this.failed.add(code);
      organisation.failed += 1;
    }
    this.workflows.use(workflowId).observe(Math.max(seconds, 0));
  }

  /** An attempt of a node has ended, or waits. */
  nodeEnded(type: string, organisationId: number, result: AttemptResult, seconds: number): void {
    let node = this.nodes.get(type);
    if (node === undefined) {
      node = { seconds: new Histogram(NODE_SECONDS), failed: 0 };
      this.nodes.set(type, node);
    }
    node.seconds.observe(seconds);
    if (result.kind === 'failure') node.failed += 1;
    if (!('consumedAiTokens' in result) || result.consumedAiTokens === 0) return;
    // Tokens of executions it waited for were counted there.
    const own = result.consumedAiTokens - (result.childAiTokens ?? 0);
    this.aiTokens += own;
    this.organisations.use(organisationId).aiTokens += own;
  }

  /** A response was sent. */
  requestEnded(kind: RequestKind, seconds: number): void {
    let histogram = this.requests.get(kind);
    if (histogram === undefined) {
      histogram = new Histogram(REQUEST_SECONDS);
      this.requests.set(kind, histogram);
    }
    histogram.observe(seconds);
  }

  /** Before the busiest are read. @param nowMs monotonic */
  rearrange(nowMs: number): void {
    if (nowMs - this.#rearrangedAtMs < REARRANGE_MS) return;
    this.#rearrangedAtMs = nowMs;
    this.organisations.rearrange();
    this.workflows.rearrange();
  }
}
