import { createHash } from 'node:crypto';
import type {
  HostWait,
  HttpClient,
  JsonValue,
  NodeContext,
  NodeServices,
  PlanNode,
  PollContext,
} from '@millrace/engine';
import { inTurnsWithin } from '@millrace/runtime/drive';
import type { Holder } from '@millrace/runtime/main-thread';
import { type Caller, type Services, servicesFor } from '@millrace/runtime/node-services';
import type { ClaimedPoll } from './store.ts';

/** What a poll needs from the process. */
export interface PollContextDeps {
  /** HTTP under an organisation's egress rules. */
  readonly http: (organisationId: number) => HttpClient;
  readonly services: Services;
  /** Most steps of work on the data of one poll. */
  readonly maxSteps: number;
}

export interface PollScene {
  readonly claimed: ClaimedPoll;
  readonly trigger: PlanNode;
  readonly position: JsonValue;
  readonly signal: AbortSignal;
  /** Collects the secrets that the poll uses. */
  readonly secrets: Set<string>;
  /** Called when a host has to be left alone for longer than a poll waits. */
  readonly onPutOff: (host: string, afterMs: number) => void;
}

/** For the turn of a host; longer waits would keep others from polling. */
const MAX_HOST_WAIT_MS = 10_000;

/** No execution exists yet. */
const NO_EXECUTION = 0;

/** Whom the main thread works for while it works for a poll. */
export function holderOf(trigger: PlanNode): Holder {
  return { executionId: NO_EXECUTION, nodeId: trigger.id };
}

/** What one poll sees of the process: the same services, under the same rules, as a node of the organisation. */
export function pollContextOf(
  { http, services, maxSteps }: PollContextDeps,
  { claimed, trigger, position, signal, secrets, onPutOff }: PollScene,
): NodeContext & PollContext {
  const { organisation_id: organisationId, workflow_id: workflowId, is_test_mode: isTestMode } = claimed;
  // Claims are counted for each trigger.
  const idempotencyKey = `poll-${workflowId}-${hashOf(trigger.id)}-${claimed.claim}`;
  const waitForHost = (): HostWait => ({
    maxWaitMs: MAX_HOST_WAIT_MS,
    begin: () => () => undefined,
    putOff: onPutOff,
    // What is polled only reads, and what it finds is fenced.
    checkLease: () => undefined,
  });
  const client = http(organisationId);
  const caller: Caller = {
    ...{ organisationId, workflowId, executionId: NO_EXECUTION, nodeId: trigger.id, iteration: [] },
    ...{ idempotencyKey, isTestMode, waitForHost, onSecret: (secret: string) => void secrets.add(secret) },
  };
  const own: Omit<NodeContext, keyof NodeServices> & PollOwn = {
    ...{ config: trigger.writtenConfig, position, isTestMode, isFirst: !claimed.is_primed, idempotencyKey },
    node: { id: trigger.id, label: trigger.label },
    execution: { id: NO_EXECUTION, workflowId, organisationId, isTestMode },
    ...{ triggerData: null, inputs: {}, inputOrder: [], attempt: 1, previousOutput: null, iteration: [] },
    ...{ aiTokensLeft: null, timezone: null, render: (template) => template, signal },
    http: { send: (request, until) => client.send(request, until, undefined, waitForHost()) },
    now: () => Date.now(),
    inTurns: inTurnsWithin({ holder: holderOf(trigger), maxSteps, isAborted: () => signal.aborted }),
    readWhole: () => Promise.reject(new Error('a poll has no files')),
  };
  const made: { context?: NodeContext & PollContext } = {};
  const ofCaller = servicesFor(services, caller, () => made.context as NodeContext);
  made.context = Object.defineProperties(own, Object.getOwnPropertyDescriptors(ofCaller)) as typeof own &
    NodeServices;
  return made.context;
}

function hashOf(nodeId: string): string {
  return createHash('sha256').update(nodeId).digest('hex').slice(0, 12);
}

type PollOwn = Pick<PollContext, 'position' | 'isFirst' | 'isTestMode'>;
