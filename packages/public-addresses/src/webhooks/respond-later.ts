import type { Database } from '@millrace/database/database';
import type { CompileResult, Plan } from '@millrace/engine';
import type { Watcher } from '@millrace/http/watcher';
import type { StartOrder } from '@millrace/runtime/start-row';
import { type Watch, waitForEnd } from '@millrace/runtime/watch';
import { findChanges, findOnceEnded } from '@millrace/service/executions/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Reached, respondingNodes, waitForResponse } from './by-node.ts';
import type { Guard } from './guard.ts';
import { readPatiently } from './patient.ts';
import { respondFromNode, respondWithResult } from './respond.ts';
import { type ReceivedCall, sendReceipt } from './start-call.ts';
import type { WaitingCallers } from './waiting-callers.ts';

/** A call whose caller waits for what the workflow answers. */
interface WaitingCall {
  readonly guard: Guard;
  readonly order: StartOrder;
  readonly plan: Plan;
  /** The nodes that may respond; null: the result of the workflow does. */
  readonly nodeIds: ReadonlySet<string> | null;
  readonly start: () => Promise<ReceivedCall>;
}

export interface WaitDeps {
  readonly db: Database;
  readonly callers: WaitingCallers;
  readonly watcher: Watcher;
  readonly maxBytes: number;
}

/** The nodes whose response a caller waits for; null: the result of the workflow; `nobody`: the caller gets the receipt. */
export function respondersOf(
  { respond }: Guard,
  compiled: CompileResult,
): ReadonlySet<string> | null | 'nobody' {
  if (respond === 'immediately' || compiled.kind === 'invalid') return 'nobody';
  if (respond !== 'by_node') return null;
  const nodeIds = respondingNodes(compiled.plan);
  return nodeIds.size === 0 ? 'nobody' : nodeIds;
}

/** Starts the workflow and waits for its result, or for the response of a node; the receipt if none comes in time. */
export async function respondFromWorkflow(
  { db, callers, watcher, maxBytes }: WaitDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { guard, order, plan, nodeIds, start }: WaitingCall,
): Promise<FastifyReply> {
  const { executionId } = order;
  const { organisationId } = order.workflow;
  const leave = callers.enter(organisationId);
  // Watched before it starts, so that its end isn't missed.
  const watch = watcher(executionId, reply);
  try {
    const started = await start();
    if (!started.isFirst) return sendReceipt(reply, started);
    // The end may be far away, and the body has been stored.
    request.bodyRoom?.release();
    const reading = { db, organisationId, executionId, watch, timeoutMs: guard.timeout_s * 1_000 };
    const came = nodeIds === null ? await untilEnd(reading) : await untilAnswered(reading, nodeIds);
    const failure = { status: guard.failure_status, maxBytes };
    if (came?.kind === 'response')
      return respondFromNode(request, reply, came.response, failure.status, executionId);
    if (came !== null && (nodeIds === null || came.row.status !== 'completed'))
      return respondWithResult(request, reply, plan, came.row, failure);
    if (came !== null)
      return sendReceipt(reply, started, 'The workflow was started and has finished without a response.');
    // A closing service waits for its connections, and this one would be kept open for the next request.
    if (watch.isOver) reply.header('connection', 'close');
    return sendReceipt(reply, started, 'The workflow was started and is still running.');
  } finally {
    watch.close();
    leave();
  }
}

interface Reading {
  readonly db: Database;
  readonly organisationId: number;
  readonly executionId: number;
  readonly watch: Watch;
  readonly timeoutMs: number;
}

async function untilEnd({ db, organisationId, executionId, watch, timeoutMs }: Reading): Promise<Reached> {
  const read = () =>
    db.readForOrganisation(organisationId, (tx) => findOnceEnded(tx, organisationId, executionId));
  const reached = await waitForEnd(watch, readPatiently(read, watch, timeoutMs), timeoutMs);
  const row = reached?.ended ?? null;
  return row === null ? null : { kind: 'ended', row };
}

async function untilAnswered(
  { db, organisationId, executionId, watch, timeoutMs }: Reading,
  nodeIds: ReadonlySet<string>,
): Promise<Reached> {
  const read = (afterSeq: number) =>
    db.readForOrganisation(organisationId, (tx) => findChanges(tx, organisationId, executionId, afterSeq));
  return waitForResponse(watch, readPatiently(read, watch, timeoutMs), nodeIds, timeoutMs);
}
