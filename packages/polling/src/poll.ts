import { createHash } from 'node:crypto';
import type { Database, Queryable } from '@millrace/database/database';
import {
  type CompileResult,
  checkJsonSize,
  type Failure,
  failure,
  isJsonArray,
  type JsonValue,
  type PlanNode,
  type PolledItem,
  type PollingDefinition,
  type PollResult,
  parseJson,
  storeError,
  stringifyJson,
  success,
  triggerAt,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { ExplainedError, reasonOf } from '@millrace/messages/explained-error';
import { drive } from '@millrace/runtime/drive';
import { storeStarts } from '@millrace/runtime/held-starts';
import { maskSecrets } from '@millrace/runtime/mask';
import type { PlanCache } from '@millrace/runtime/plans';
import { recordsOfStart, toStartRow } from '@millrace/runtime/start-row';
import { readDatabaseTime, reserveExecutionIds } from '@millrace/runtime/statements';
import type { Logger } from 'pino';
import { holderOf, type PollContextDeps, pollContextOf } from './poll-context.ts';
import {
  type ClaimedPoll,
  failPoll,
  findKnown,
  finishPoll,
  lockClaimed,
  recordAcknowledged,
  recordItems,
  releasePoll,
} from './store.ts';

/** The time one poll may take, from the claim to what it found. */
export const POLL_MS = 60_000;
/** Executions one poll starts; what is left is started by the next one, which comes soon. */
export const MAX_STARTS = 100;
/** After a poll that left items for the next one. */
const MORE_MS = 5_000;
/** The longest pause after failures, unless the interval is longer. */
const MAX_PAUSE_MS = 3_600_000;
/** Failures in a row after which alert rules are told, if another attempt could succeed. */
const TOLD_AFTER = 3;
const SECOND_MS = 1_000;

/** A poll that keeps failing, for alert rules. */
export interface FailingPoll {
  readonly organisationId: number;
  readonly workflowId: number;
  readonly workflowName: string;
  /** JSON text of the error. */
  readonly error: string;
}

export interface PollDeps extends PollContextDeps {
  readonly db: Database;
  readonly plans: PlanCache;
  readonly log: Logger;
  /** Most bytes of one item, as JSON. */
  readonly maxItemBytes: number;
  /** @throws ExplainedError with `code` if so many starts can't be taken now */
  readonly enterQueue: (organisationId: number, count: number) => Promise<() => void>;
  /** Tells alert rules, in the transaction that records the failure. */
  readonly tellAlerts: (tx: Queryable, failing: FailingPoll) => Promise<void>;
}

/** What became of a poll. `lost`: somebody else has claimed it meanwhile, or the workflow was changed. */
export type Polled = { readonly outcome: 'polled' | 'failed' | 'lost'; readonly started: number };

interface Subject {
  readonly claimed: ClaimedPoll;
  readonly compiled: CompileResult;
  readonly trigger: PlanNode;
  readonly polling: PollingDefinition;
  readonly secrets: Set<string>;
  readonly signal: AbortSignal;
}

/**
 * Polls for a claimed workflow and starts an execution for each new item. Starts, the record of the items and the position for the next poll
 * are stored by one transaction, which is fenced by the claim: whatever dies when, each item is started once.
 */
export async function pollOnce(deps: PollDeps, claimed: ClaimedPoll, stopping: AbortSignal): Promise<Polled> {
  const compiled = await deps.plans.get(claimed.workflow_id, claimed.version);
  const trigger = compiled.kind === 'plan' ? triggerAt(compiled.plan, claimed.node_id) : undefined;
  const polling = trigger?.definition.polling;
  if (trigger === undefined || polling === undefined) {
    throw new Error(`the saved version of workflow ${claimed.workflow_id} does not poll`);
  }
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(POLL_MS)]);
  const subject = { claimed, compiled, trigger, polling, secrets: new Set<string>(), signal };
  const told = await acknowledge(deps, subject, idsOf(claimed));
  const result = told ?? (await readSource(deps, subject));
  if (stopping.aborted) {
    await releasePoll(deps.db, claimed, 0);
    return { outcome: 'lost', started: 0 };
  }
  if (result.kind === 'failure') return recordFailure(deps, subject, result);
  return recordFound(deps, subject, result);
}

/** What the source has. Secrets of credentials are masked, as in a node's output. */
async function readSource(deps: PollDeps, subject: Subject): Promise<PollResult> {
  const { claimed, trigger, polling, secrets, signal } = subject;
  const position = claimed.position === null ? null : parseJson(claimed.position);
  let putOff: Failure | null = null;
  try {
    const onPutOff = (host: string, afterMs: number): void => {
      putOff ??= hostBusy(host, afterMs);
    };
    const found = await polling.poll(
      pollContextOf(deps, { claimed, trigger, position, signal, secrets, onPutOff }),
    );
    if (found.kind === 'failure') return signal.aborted ? tooSlow() : (putOff ?? found);
    return { ...found, items: await maskItems(deps, subject, found.items) };
  } catch (error) {
    if (signal.aborted) return tooSlow();
    if (putOff !== null) return putOff;
    deps.log.error({ err: error, workflow_id: claimed.workflow_id }, 'a poll has a defect');
    return failure('node_error', message('run.node_failed', { reason: reasonOf(error) }));
  }
}

function tooSlow(): Failure {
  return failure('timeout', message('run.poll_timeout', { seconds: POLL_MS / SECOND_MS }), {
    retryable: true,
  });
}

/** Too many calls to the host are under way, or it wants a pause. */
function hostBusy(host: string, afterMs: number): Failure {
  const seconds = Math.ceil(afterMs / SECOND_MS);
  const explanation = message('run.poll_host_busy', { host, seconds });
  return failure('host_busy', explanation, { retryable: true, retryAfterMs: afterMs });
}

async function maskItems(
  { maxSteps }: PollDeps,
  { secrets, trigger, signal }: Subject,
  items: readonly PolledItem[],
): Promise<readonly PolledItem[]> {
  if (secrets.size === 0) return items;
  const work = maskSecrets(success({ data: items.map(({ data }) => data) }), secrets);
  const options = { holder: holderOf(trigger), maxSteps, isAborted: () => signal.aborted };
  const masked = await drive(work, options);
  const data = masked.kind === 'success' ? masked.output.data : undefined;
  if (data === undefined || !isJsonArray(data)) throw new Error('masking lost the items');
  return items.map(({ id }, at) => ({ id, data: data[at] ?? null }));
}

type Found = Extract<PollResult, { kind: 'polled' }>;

async function recordFound(deps: PollDeps, subject: Subject, found: Found): Promise<Polled> {
  const items = new Map(found.items.map((item) => [hashOf(item.id), item]));
  let leave: () => void;
  try {
    leave = await enterQueue(deps, subject, [...items.keys()]);
  } catch (error) {
    return recordFailure(deps, subject, refusalOf(error));
  }
  try {
    const started = await deps.db.transaction((tx) => storeFound(deps, tx, subject, { found, items }));
    if (started === null) return { outcome: 'lost', started: 0 };
    // If this fails, the next poll does it first.
    await acknowledge(deps, subject, started);
    return { outcome: 'polled', started: started.length };
  } finally {
    leave();
  }
}

/** Takes places for what is new. Only the transaction that starts it knows for certain. */
async function enterQueue(deps: PollDeps, subject: Subject, hashes: readonly string[]): Promise<() => void> {
  const { organisation_id: organisationId } = subject.claimed;
  const count = skipsAll(subject) ? 0 : (await findFresh(deps.db, subject, hashes)).length;
  return count === 0 ? () => {} : await deps.enterQueue(organisationId, Math.min(count, MAX_STARTS));
}

/** Those that were not found before, in their order. */
async function findFresh(
  db: Queryable,
  { claimed }: Subject,
  hashes: readonly string[],
): Promise<readonly string[]> {
  const known = await findKnown(db, claimed, hashes.map(bytesOf));
  const found = new Set(known.map((hash) => hash.toString('hex')));
  return hashes.filter((hash) => !found.has(hash));
}

/** @returns the ids of the items that were started; null if the claim was lost */
async function storeFound(
  deps: PollDeps,
  tx: Queryable,
  subject: Subject,
  { found, items }: { readonly found: Found; readonly items: ReadonlyMap<string, PolledItem> },
): Promise<readonly string[] | null> {
  const { claimed, polling } = subject;
  if (!(await lockClaimed(tx, claimed))) return null;
  const hashes = [...items.keys()];
  const fresh = skipsAll(subject) ? [] : await findFresh(tx, subject, hashes);
  const left = new Set(fresh.slice(MAX_STARTS));
  const taken = fresh.slice(0, MAX_STARTS).flatMap((hash) => items.get(hash) ?? []);
  const wanted = taken.filter(({ data }) => checkJsonSize(data, deps.maxItemBytes) === 'fits');
  const tooLarge = taken.length - wanted.length;
  await recordItems(tx, claimed, hashes.filter((hash) => !left.has(hash)).map(bytesOf));
  await startExecutions(tx, subject, wanted);
  const error = tooLarge === 0 ? null : tooLargeError(deps, subject, tooLarge);
  if (error !== null) await tell(deps, tx, subject, error);
  const ids = wanted.map(({ id }) => id);
  await finishPoll(tx, claimed, {
    position: left.size > 0 || found.position === null ? null : stringifyJson(found.position),
    isPrimed: left.size === 0,
    unacknowledged: polling.acknowledge === undefined || ids.length === 0 ? null : stringifyJson(ids),
    started: wanted.length,
    delayMs: left.size > 0 ? MORE_MS : intervalOf(subject),
    error,
    isTold: error !== null,
  });
  return ids;
}

async function startExecutions(
  tx: Queryable,
  { claimed, compiled, trigger }: Subject,
  items: readonly PolledItem[],
): Promise<void> {
  if (items.length === 0) return;
  const acceptedAt = new Date(Math.floor(await readDatabaseTime(tx)));
  const ids = await reserveExecutionIds(tx, items.length);
  const rows = items.map(({ data }, at) => {
    const reserved = ids[at];
    if (reserved === undefined) throw new Error('fewer ids were reserved than items start');
    return toStartRow({
      executionId: reserved.id,
      acceptedAt,
      workflow: {
        id: claimed.workflow_id,
        organisationId: claimed.organisation_id,
        name: claimed.name,
        isTestMode: claimed.is_test_mode,
      },
      version: claimed.version,
      triggerType: 'poll',
      input: data,
      compiled,
      records: recordsOfStart(compiled, trigger.id, { data }, acceptedAt),
    });
  });
  const { stored } = await storeStarts(tx, rows, null);
  // The items are found again once it isn't paused any more.
  if (stored.length < rows.length) throw new Error('the organisation was paused while it was polled for');
}

/** @returns the failure that put it off; null when done */
async function acknowledge(
  deps: PollDeps,
  { claimed, trigger, polling, secrets, signal }: Subject,
  ids: readonly string[],
): Promise<Failure | null> {
  if (ids.length === 0 || polling.acknowledge === undefined) return null;
  const position = claimed.position === null ? null : parseJson(claimed.position);
  const onPutOff = (): void => undefined;
  const context = pollContextOf(deps, { claimed, trigger, position, signal, secrets, onPutOff });
  // Nothing is changed at the source in test mode.
  const failed = claimed.is_test_mode ? null : await polling.acknowledge(context, ids);
  if (failed === null) await recordAcknowledged(deps.db, claimed);
  return failed;
}

async function recordFailure(deps: PollDeps, subject: Subject, failed: Failure): Promise<Polled> {
  const { claimed, trigger } = subject;
  const error = stringifyJson(storeError({ code: failed.code, message: failed.message, nodeId: trigger.id }));
  const isRecorded = await deps.db.transaction(async (tx) => {
    if (!(await lockClaimed(tx, claimed))) return false;
    const isTelling = !failed.retryable || claimed.failures + 1 >= TOLD_AFTER;
    if (isTelling) await tell(deps, tx, subject, error);
    await failPoll(tx, claimed, {
      error,
      delayMs: pauseAfter(subject, failed),
      isTold: claimed.is_told || isTelling,
    });
    return true;
  });
  return { outcome: isRecorded ? 'failed' : 'lost', started: 0 };
}

/** Alert rules are told once of failures in a row, and of nothing in test mode. */
async function tell(deps: PollDeps, tx: Queryable, { claimed }: Subject, error: string): Promise<void> {
  if (claimed.is_told || claimed.is_test_mode) return;
  await deps.tellAlerts(tx, {
    organisationId: claimed.organisation_id,
    workflowId: claimed.workflow_id,
    workflowName: claimed.name,
    error,
  });
}

/** Twice as long with each failure, at least as long as the source wants. */
function pauseAfter(subject: Subject, { retryAfterMs = 0 }: Failure): number {
  const interval = intervalOf(subject);
  const grown = interval * 2 ** Math.min(subject.claimed.failures, 20);
  const pause = Math.max(interval, Math.min(grown, MAX_PAUSE_MS));
  return Math.max(pause, Math.min(retryAfterMs, 24 * MAX_PAUSE_MS));
}

function intervalOf({ trigger }: Subject): number {
  const { interval_s: seconds } = trigger.writtenConfig;
  return (typeof seconds === 'number' ? seconds : 300) * SECOND_MS;
}

/** Whether everything that is found was there before the workflow began to poll. */
function skipsAll({ claimed, trigger }: Subject): boolean {
  return !claimed.is_primed && trigger.writtenConfig.existing !== 'start';
}

function idsOf({ unacknowledged }: ClaimedPoll): readonly string[] {
  const ids: JsonValue = unacknowledged === null ? [] : parseJson(unacknowledged);
  return isJsonArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}

function tooLargeError({ maxItemBytes }: PollDeps, { trigger }: Subject, count: number): string {
  const explanation = message('run.polled_too_large', { count, bytes: maxItemBytes });
  return stringifyJson(storeError({ code: 'item_too_large', message: explanation, nodeId: trigger.id }));
}

/** A refused start is put off like a source that can't be reached. */
function refusalOf(error: unknown): Failure {
  if (!(error instanceof ExplainedError && 'code' in error)) throw error;
  return failure(String(error.code), error.explanation, { retryable: true });
}

function hashOf(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}

function bytesOf(hash: string): Buffer {
  return Buffer.from(hash, 'hex');
}
