import type { Database, Queryable } from '@millrace/database/database';
import {
  checkJsonSize,
  type Failure,
  failure,
  isJsonArray,
  type JsonValue,
  type PollContext,
  type PolledItem,
  type PollingDefinition,
  type PollResult,
  parseJson,
  storeError,
  stringifyJson,
  triggerAt,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { ExplainedError, reasonOf } from '@millrace/messages/explained-error';
import type { PlanCache } from '@millrace/runtime/plans';
import type { Logger } from 'pino';
import { type PollContextDeps, pollContextOf } from './poll-context.ts';
import { bytesOf, type FoundFor, findFresh, hashOf, maskItems, startExecutions } from './starts.ts';
import {
  type ClaimedPoll,
  failPoll,
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
/** Of them, where each has to be read first. */
const MAX_COMPLETED = 25;
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

interface Subject extends FoundFor {
  readonly polling: PollingDefinition;
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
function readSource(deps: PollDeps, subject: Subject): Promise<PollResult> {
  return withSource(deps, subject, async (context) => {
    const found = await subject.polling.poll(context);
    return found.kind === 'failure'
      ? found
      : { ...found, items: await maskItems(deps, subject, found.items) };
  });
}

/** Asks the source, and says why if it can't. */
async function withSource<Result extends object>(
  deps: PollDeps,
  { claimed, trigger, secrets, signal }: Subject,
  ask: (context: PollContext) => Promise<Result | Failure>,
): Promise<Result | Failure> {
  const position = claimed.position === null ? null : parseJson(claimed.position);
  let putOff: Failure | null = null;
  try {
    const onPutOff = (host: string, afterMs: number): void => {
      putOff ??= hostBusy(host, afterMs);
    };
    const found = await ask(pollContextOf(deps, { claimed, trigger, position, signal, secrets, onPutOff }));
    if (!('kind' in found) || found.kind !== 'failure') return found;
    return signal.aborted ? tooSlow() : (putOff ?? found);
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

type Found = Extract<PollResult, { kind: 'polled' }>;

async function recordFound(deps: PollDeps, subject: Subject, found: Found): Promise<Polled> {
  const items = new Map(found.items.map((item) => [hashOf(item.id), item]));
  // Only the transaction that starts them knows for certain.
  const fresh = skipsAll(subject) ? [] : await findFresh(deps.db, subject, [...items.keys()]);
  const coming = fresh.slice(0, maxStarts(subject));
  let leave: () => void;
  try {
    leave =
      coming.length === 0 ? () => {} : await deps.enterQueue(subject.claimed.organisation_id, coming.length);
  } catch (error) {
    return recordFailure(deps, subject, refusalOf(error));
  }
  try {
    const whole = await completeItems(
      deps,
      subject,
      coming.flatMap((hash) => items.get(hash) ?? []),
    );
    if ('kind' in whole) return await recordFailure(deps, subject, whole);
    for (const hash of coming) items.set(hash, whole.get(hash) ?? GONE);
    const started = await deps.db.transaction((tx) => storeFound(deps, tx, subject, { found, items }));
    if (started === null) return { outcome: 'lost', started: 0 };
    // If this fails, the next poll does it first.
    await acknowledge(deps, subject, started);
    return { outcome: 'polled', started: started.length };
  } finally {
    leave();
  }
}

/** Stands for an item that is no longer there. */
const GONE: PolledItem = { id: '', data: null };

function maxStarts({ polling }: Subject): number {
  return polling.complete === undefined ? MAX_STARTS : MAX_COMPLETED;
}

/** Items with what their trigger reads about each, masked, by their hash. */
async function completeItems(
  deps: PollDeps,
  subject: Subject,
  items: readonly PolledItem[],
): Promise<ReadonlyMap<string, PolledItem> | Failure> {
  const { polling } = subject;
  const byHash = (each: readonly PolledItem[]) => new Map(each.map((item) => [hashOf(item.id), item]));
  if (polling.complete === undefined || items.length === 0) return byHash(items);
  const read = await withSource(deps, subject, async (context) => {
    const whole = (await polling.complete?.(context, items)) ?? items;
    return 'kind' in whole ? whole : maskItems(deps, subject, whole);
  });
  return 'kind' in read ? read : byHash(read);
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
  const left = new Set(fresh.slice(maxStarts(subject)));
  const taken = fresh
    .slice(0, maxStarts(subject))
    .flatMap((hash) => items.get(hash) ?? [])
    .filter((item) => item !== GONE);
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
