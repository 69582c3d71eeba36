import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '@millrace/database/database';
import { DatabaseUnavailableError } from '@millrace/database/errors';
import { cutOnAbort } from '@millrace/egress/cut-on-abort';
import type { Egress } from '@millrace/egress/egress';
import type { GuardedSockets } from '@millrace/egress/guarded-socket';
import {
  checkJsonSize,
  type Failure,
  failure,
  HttpClientError,
  isJsonArray,
  type JsonValue,
  type PlanNode,
  parseJson,
  ServiceError,
  storeError,
  stringifyJson,
  triggerAt,
} from '@millrace/engine';
import type { Files } from '@millrace/files/files';
import { fileName, mediaType } from '@millrace/files/names';
import { message } from '@millrace/messages';
import { ExplainedError, reasonOf } from '@millrace/messages/explained-error';
import type { PollDeps } from '@millrace/polling/poll';
import { pollContextOf } from '@millrace/polling/poll-context';
import {
  bytesOf,
  type FoundFor,
  findFresh,
  hashOf,
  maskItems,
  startExecutions,
} from '@millrace/polling/starts';
import {
  type ClaimedPoll,
  failPoll,
  lockClaimed,
  type PollKey,
  recordAcknowledged,
  recordItems,
} from '@millrace/polling/store';
import { endsWithin } from '@millrace/runtime/ends-within';
import { driverOf } from './drivers.ts';
import type { Batch, ConnectContext, Connection, Received } from './source.ts';
import {
  readClaimed,
  recordBatch,
  recordConnected,
  recordSteady,
  recordWaiting,
  releaseListener,
} from './store.ts';

export interface SessionDeps extends PollDeps {
  /** Connections under an organisation's egress rules. */
  readonly sockets: Egress['sockets'];
  readonly fetch: Egress['fetch'];
  readonly files: Files;
  /** Called with the number of executions that a batch has started. */
  readonly onStarted: (organisationId: number, count: number) => void;
  /** The first pause after a failure; it doubles up to {@link MAX_PAUSE_MS}. */
  readonly pauseMs?: number;
}

const PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 600_000;
/** Failures in a row after which alert rules are told, if another attempt could succeed. */
const TOLD_AFTER = 3;
/** A connection that lasts for so long has succeeded, even if nothing was received. */
const STEADY_MS = 30_000;
/** Until a connection must be there. */
const CONNECT_MS = 60_000;
/** For saying goodbye, and for what has to be told to the source. */
const CLOSE_MS = 2_000;
const ACKNOWLEDGE_MS = 30_000;
/** While starts are refused, or the database is away. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/**
 * Connects for a claimed listener and starts an execution for each message, until the signal says to stop or the connection fails. A message
 * is acknowledged after its start was stored. The next ones are read only then: while starts are refused, everything else stays where it is.
 */
export async function listen(deps: SessionDeps, claimed: ClaimedPoll, signal: AbortSignal): Promise<void> {
  const session = new Session(deps, claimed, signal);
  try {
    await session.run();
    await releaseListener(deps.db, claimed);
  } catch (error) {
    if (signal.aborted) await releaseListener(deps.db, claimed);
    else await session.recordFailure(failureOf(error, deps, claimed));
  } finally {
    session.end();
  }
}

class Session {
  readonly #deps: SessionDeps;
  readonly #claimed: ClaimedPoll;
  readonly #signal: AbortSignal;
  readonly #secrets = new Set<string>();
  readonly #opened = new Set<Socket>();
  #trigger: PlanNode | null = null;
  #failures: number;
  #isTold: boolean;

  constructor(deps: SessionDeps, claimed: ClaimedPoll, signal: AbortSignal) {
    this.#deps = deps;
    this.#claimed = claimed;
    this.#signal = signal;
    this.#failures = claimed.failures;
    this.#isTold = claimed.is_told;
  }

  async run(): Promise<void> {
    const { trigger } = await this.#subject(this.#claimed);
    const { listening } = trigger.definition;
    if (listening === undefined)
      throw new Error(`the saved version of workflow ${this.#claimed.workflow_id} does not listen`);
    const source = listening.source(trigger.writtenConfig);
    const driver = driverOf(source.kind);
    const context = this.#contextOf(trigger, source);
    const connection = await this.#within(driver.connect(context), CONNECT_MS);
    const steady = this.#noteSteady();
    try {
      await recordConnected(this.#deps.db, this.#claimed, textOf(connection.position));
      while (!this.#signal.aborted) {
        const batch = await this.#within(connection.next());
        if (batch.messages.length === 0 && batch.position === null) continue;
        if (!(await this.#take(batch, connection, driver.keepsUnacknowledged))) return;
      }
    } finally {
      clearTimeout(steady);
      await endsWithin(
        connection.close().catch(() => undefined),
        CLOSE_MS,
      );
    }
  }

  /** Closes what is still open. */
  end(): void {
    for (const socket of this.#opened) socket.destroy();
  }

  async recordFailure(failed: Failure): Promise<void> {
    const { db, pauseMs = PAUSE_MS } = this.#deps;
    const error = this.#errorText(failed);
    const isTelling = !failed.retryable || this.#failures + 1 >= TOLD_AFTER;
    const grown = pauseMs * 2 ** Math.min(this.#failures, 20);
    const delayMs = Math.max(Math.min(grown, MAX_PAUSE_MS), Math.min(failed.retryAfterMs ?? 0, MAX_PAUSE_MS));
    await db.transaction(async (tx) => {
      if (!(await lockClaimed(tx, this.#claimed))) return;
      if (isTelling) await this.#tell(tx, error);
      await failPoll(tx, this.#claimed, { error, delayMs, isTold: this.#isTold || isTelling });
    });
  }

  async #subject(claimed: ClaimedPoll): Promise<FoundFor> {
    const compiled = await this.#deps.plans.get(claimed.workflow_id, claimed.version);
    const trigger = compiled.kind === 'plan' ? triggerAt(compiled.plan, claimed.node_id) : undefined;
    if (trigger === undefined)
      throw new Error(
        `the saved version of workflow ${claimed.workflow_id} has no trigger ${claimed.node_id}`,
      );
    this.#trigger = trigger;
    return { claimed, compiled, trigger, secrets: this.#secrets, signal: this.#signal };
  }

  #contextOf(trigger: PlanNode, source: ConnectContext['source']): ConnectContext {
    const { organisation_id: organisationId } = this.#claimed;
    const position = this.#claimed.position === null ? null : parseJson(this.#claimed.position);
    const { contents, credentials, http } = pollContextOf(this.#deps, {
      ...{ claimed: this.#claimed, trigger, position, signal: this.#signal, secrets: this.#secrets },
      onPutOff: () => undefined,
    });
    return {
      ...{ contents, credentials, http, source, position },
      name: nameOf(this.#claimed),
      now: () => Date.now(),
      signal: this.#signal,
      unacknowledged: idsOf(this.#claimed.unacknowledged),
      sockets: this.#sockets(organisationId),
      fetch: this.#deps.fetch(organisationId),
      saveFile: ({ name, type }, content) =>
        this.#deps.files.save(
          {
            organisationId,
            executionId: null,
            name: fileName(name),
            type: mediaType(type),
            declaredBytes: null,
          },
          content,
        ),
    };
  }

  /** Sockets that end with the session, whatever the driver does. They aren't calls, so they don't take a host's turns. */
  #sockets(organisationId: number): GuardedSockets {
    const guarded = this.#deps.sockets(organisationId);
    return {
      connect: async (target, signal) => {
        const socket = await guarded.connect(target, signal);
        this.#opened.add(socket);
        socket.once('close', () => this.#opened.delete(socket));
        if (this.#signal.aborted) socket.destroy();
        return socket;
      },
    };
  }

  #noteSteady(): NodeJS.Timeout {
    const note = async (): Promise<void> => {
      await recordSteady(this.#deps.db, this.#claimed);
      this.#failures = 0;
      this.#isTold = false;
    };
    return setTimeout(() => void note().catch(() => undefined), STEADY_MS).unref();
  }

  /** @returns false if the claim was lost, or the session is to end */
  async #take(batch: Batch, connection: Connection, keepsUnacknowledged: boolean): Promise<boolean> {
    const messages = await maskItems(this.#deps, await this.#subject(this.#claimed), batch.messages);
    const taken = { position: batch.position, messages };
    for (let pauseMs = RETRY_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_RETRY_MS)) {
      if (this.#signal.aborted) return false;
      try {
        const acknowledged = await this.#store(taken, keepsUnacknowledged);
        if (acknowledged === null) return false;
        if (acknowledged.length === 0) return true;
        await this.#within(connection.acknowledge(acknowledged), ACKNOWLEDGE_MS);
        if (keepsUnacknowledged) await recordAcknowledged(this.#deps.db, this.#claimed);
        return true;
      } catch (error) {
        await this.#noteWaiting(error);
        await sleep(pauseMs, undefined, { signal: this.#signal }).catch(() => undefined);
      }
    }
  }

  /** @throws anything but the refusal of a start, and a database that is away, for which the messages wait */
  async #noteWaiting(error: unknown): Promise<void> {
    if (error instanceof DatabaseUnavailableError) return;
    if (!(error instanceof RefusedError)) throw error;
    const text = this.#errorText(failure(error.code, error.explanation, { retryable: true }));
    await recordWaiting(this.#deps.db, this.#claimed, text).catch(() => undefined);
  }

  /** @returns the ids to acknowledge; null if the claim was lost */
  async #store(batch: Batch, keepsUnacknowledged: boolean): Promise<readonly string[] | null> {
    const { db, enterQueue } = this.#deps;
    const claimed = await readClaimed(db, this.#claimed);
    if (claimed === undefined) return null;
    const subject = await this.#subject(claimed);
    const messages = new Map(batch.messages.map((each) => [hashOf(each.id), each]));
    const { length: count } = await findFresh(db, subject, [...messages.keys()]);
    const leave =
      count === 0 ? () => undefined : await enterQueue(claimed.organisation_id, count).catch(throwRefused);
    try {
      const stored = await db.transaction((tx) =>
        this.#storeIn(tx, subject, { batch, messages, keepsUnacknowledged }),
      );
      if (stored === null) return null;
      this.#failures = 0;
      this.#deps.onStarted(claimed.organisation_id, stored.started);
      return stored.acknowledged;
    } finally {
      leave();
    }
  }

  async #storeIn(
    tx: Queryable,
    subject: FoundFor,
    {
      batch,
      messages,
      keepsUnacknowledged,
    }: {
      readonly batch: Batch;
      readonly messages: ReadonlyMap<string, Received>;
      readonly keepsUnacknowledged: boolean;
    },
  ): Promise<{ readonly started: number; readonly acknowledged: readonly string[] } | null> {
    if (!(await lockClaimed(tx, subject.claimed))) return null;
    const hashes = [...messages.keys()];
    const fresh = (await findFresh(tx, subject, hashes)).flatMap((hash) => messages.get(hash) ?? []);
    const { maxItemBytes } = this.#deps;
    const tooLarge = new Set(fresh.filter(({ data }) => checkJsonSize(data, maxItemBytes) !== 'fits'));
    const wanted = fresh.filter((each) => !tooLarge.has(each));
    await recordItems(tx, subject.claimed, hashes.map(bytesOf));
    await startExecutions(tx, subject, wanted);
    const error = tooLarge.size === 0 ? null : this.#tooLargeError(tooLarge.size);
    if (error !== null) await this.#tell(tx, error);
    this.#isTold = error !== null;
    const acknowledged = [...messages.values()].filter((each) => !tooLarge.has(each)).map(({ id }) => id);
    await recordBatch(tx, subject.claimed, {
      position: textOf(batch.position),
      unacknowledged: keepsUnacknowledged && acknowledged.length > 0 ? stringifyJson(acknowledged) : null,
      started: wanted.length,
      error,
      isTold: error !== null,
    });
    return { started: wanted.length, acknowledged };
  }

  #tooLargeError(count: number): string {
    const explanation = message('run.received_too_large', { count, bytes: this.#deps.maxItemBytes });
    return this.#errorText(failure('item_too_large', explanation));
  }

  /** Alert rules are told once of failures in a row. */
  async #tell(tx: Queryable, error: string): Promise<void> {
    if (this.#isTold) return;
    const { organisation_id: organisationId, workflow_id: workflowId, name: workflowName } = this.#claimed;
    await this.#deps.tellAlerts(tx, { organisationId, workflowId, workflowName, error });
  }

  #errorText({ code, message: explanation }: Failure): string {
    return stringifyJson(storeError({ code, message: explanation, nodeId: this.#trigger?.id ?? '' }));
  }

  /** Waits no longer than the session lasts, and than the limit. */
  async #within<Result>(work: Promise<Result>, limitMs?: number): Promise<Result> {
    const limit = limitMs === undefined ? [] : [AbortSignal.timeout(limitMs)];
    const until = AbortSignal.any([this.#signal, ...limit]);
    const { promise, reject } = Promise.withResolvers<never>();
    // Losing must not end the process.
    work.catch(() => undefined);
    return await cutOnAbort(
      until,
      () => reject(this.#signal.aborted ? new Error('the session ends') : tooSlow(limitMs ?? 0)),
      () => Promise.race([work, promise]),
    );
  }
}

function tooSlow(ms: number): ServiceError {
  return new ServiceError('timeout', message('run.listen_timeout', { seconds: ms / 1_000 }), {
    retryable: true,
  });
}

/** A start was refused for now. */
class RefusedError extends ExplainedError {
  override readonly name = 'RefusedError';
  readonly code: string;

  constructor(code: string, cause: ExplainedError) {
    super(cause.explanation, { cause });
    this.code = code;
  }
}

function throwRefused(error: unknown): never {
  if (error instanceof ExplainedError && 'code' in error) throw new RefusedError(String(error.code), error);
  throw error;
}

function failureOf(error: unknown, { log }: SessionDeps, claimed: ClaimedPoll): Failure {
  if (error instanceof ServiceError || error instanceof HttpClientError) {
    const retryable = error instanceof ServiceError ? error.retryable : true;
    return failure(error.code, error.explanation, { retryable });
  }
  log.error({ err: error, workflow_id: claimed.workflow_id }, 'a listening trigger has failed');
  return failure('node_error', message('run.node_failed', { reason: reasonOf(error) }), { retryable: true });
}

/** By what a source knows a trigger. Short, as brokers need not take more than 23 characters; the hash tells the triggers of a workflow apart. */
export function nameOf({ workflow_id: workflowId, node_id: nodeId }: PollKey): string {
  return `millrace-${workflowId}-${hashOf(nodeId).slice(0, 6)}`;
}

function textOf(value: JsonValue): string | null {
  return value === null ? null : stringifyJson(value);
}

function idsOf(text: string | null): readonly string[] {
  const ids: JsonValue = text === null ? [] : parseJson(text);
  return isJsonArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}
