import { isDeepStrictEqual } from 'node:util';
import type { ExecutionRow } from '../faults/support/ledger.ts';
import { LEASE_MS } from '../faults/support/service-process.ts';
import { Crashes } from './crashes.ts';
import type { Evidence } from './evidence.ts';
import { childOf, type Expectation, expectationOf, KEYED_LIMIT, LIMIT, SUPERSEDED } from './mix.ts';
import type { Call } from './outside.ts';
import type { SentStart } from './starts.ts';

export const CATEGORIES = ['lost', 'doubled', 'stuck', 'changed', 'exceeded', 'unexpected'] as const;
export type Category = (typeof CATEGORIES)[number];

/** A promise that was broken. */
export interface Finding {
  readonly category: Category;
  readonly what: string;
  readonly executionIds: readonly number[];
}

/** What was found, and what was seen that is no finding. */
export interface Verdict {
  readonly findings: readonly Finding[];
  /** Failed as `worker_crashed` after three injected crashes. */
  readonly crashed: readonly number[];
  /** Calls sent after their node's end by a process that was stopped while it sent them. */
  readonly lateCalls: readonly Call[];
}

/** Clocks of processes and the way of a request differ by less. */
const TOLERANCE_MS = 1_000;
/** A worker that can't be reached finds out when it looks at its lease at the latest. */
const AFTER_CANCEL_MS = 2 * LEASE_MS;
/** A process that was stopped goes on with what it was doing for at most this long. */
const AFTER_STOP_MS = 5_000;

/** Compares what happened with what was promised. */
export function judge(evidence: Evidence): Verdict {
  return new Judge(evidence).judge();
}

class Judge {
  readonly #evidence: Evidence;
  readonly #findings: Finding[] = [];
  readonly #crashes: Crashes;
  readonly #crashed: number[] = [];
  readonly #lateCalls: Call[] = [];
  readonly #byMarker: ReadonlyMap<string, readonly ExecutionRow[]>;
  readonly #callsByExecution: ReadonlyMap<number, readonly Call[]>;
  readonly #startByMarker: ReadonlyMap<string, SentStart>;
  readonly #byId: ReadonlyMap<number, ExecutionRow>;

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
    this.#crashes = new Crashes(evidence);
    this.#byMarker = Map.groupBy(evidence.executions, ({ marker }) => marker);
    this.#callsByExecution = Map.groupBy(evidence.calls, ({ executionId }) => executionId);
    this.#startByMarker = new Map(evidence.starts.map((start) => [start.marker, start]));
    this.#byId = new Map(evidence.executions.map((row) => [row.id, row]));
  }

  judge(): Verdict {
    for (const start of this.#evidence.starts) this.#judgeStart(start);
    for (const { id, completed_at } of this.#evidence.executions) {
      if (completed_at === null) this.#find('stuck', 'it has not ended', id);
    }
    this.#judgeNodeEnds();
    this.#judgeDeliveryKeys();
    this.#judgeFinals();
    this.#judgeSchedule();
    this.#judgeLimits();
    this.#judgeRates();
    this.#judgeProcesses();
    return { findings: this.#findings, crashed: this.#crashed, lateCalls: this.#lateCalls };
  }

  #find(category: Category, what: string, ...executionIds: number[]): void {
    this.#findings.push({ category, what, executionIds });
  }

  #judgeStart(start: SentStart): void {
    const { marker, answers, hasKey } = start;
    const rows = this.#byMarker.get(marker) ?? [];
    const ids = rows.map(({ id }) => id);
    const accepted = answers.filter((answer) => answer.kind === 'accepted');
    for (const answer of answers) {
      if (answer.kind !== 'refused') continue;
      const isRight = [429, 503].includes(answer.status) && answer.retryAfter !== null;
      if (!isRight) this.#find('unexpected', `${marker} was refused: ${answer.status} ${answer.code}`);
    }
    for (const { executionId } of accepted) {
      if (!ids.includes(executionId)) this.#find('lost', `${marker} was accepted`, executionId);
    }
    if (ids.length > 1) this.#find('doubled', `${marker} was started ${ids.length} times`, ...ids);
    if (hasKey && accepted.length === 0) this.#find('lost', `${marker} has a key and was never accepted`);
    if (new Set(accepted.map(({ body }) => body)).size > 1) {
      this.#find('changed', `${marker} was replayed with another body`, ...ids);
    }
    for (const row of rows) this.#judgeExecution(row, expectationOf(start), start);
  }

  #judgeExecution(row: ExecutionRow, expected: Expectation, start: SentStart): void {
    if (row.completed_at === null) return;
    const isParent = start.kind === 'parent';
    const children = isParent ? (this.#byMarker.get(childOf(row.marker)) ?? []) : [];
    const isExcused = this.#isExcused(row, children);
    for (const child of children) {
      const expectedChild = expectationOf({ kind: 'child', marker: child.marker, input: {} });
      if (isExcused && child.status === 'cancelled') continue;
      this.#judgeExecution(child, expectedChild, { ...start, kind: 'child' });
    }
    const ids = children.map(({ id }) => id);
    if (children.length > 1) this.#find('doubled', `the child of ${row.id} (${row.marker})`, ...ids);
    const isCancelled =
      start.kind === 'cancelled' ? this.#judgeCancellation(row) : this.#judgeSupersession(row, start);
    this.#judgeCalls(row, expected, isExcused || isCancelled);
    if (isCancelled) return;
    if (start.kind === 'callback') this.#judgeCallbacks(row, isExcused);
    if (isExcused) {
      this.#crashed.push(row.id);
      return;
    }
    if (isParent && children.length === 0) this.#find('lost', `the child of ${row.marker}`, row.id);
    const detail = this.#evidence.details.get(row.id);
    if (detail === undefined) {
      this.#find('lost', `${row.marker} is not shown by the API`, row.id);
      return;
    }
    const outcome = [row.status, detail.status, detail.error?.code ?? null];
    if (!isDeepStrictEqual(outcome, [expected.status, expected.status, expected.errorCode])) {
      this.#find('changed', `${row.marker} came out as ${outcome.join(', ')}`, row.id);
      return;
    }
    if (expected.result === null) return;
    const { value: _, file, ...result } = detail.node_outputs.result?.output ?? {};
    if (!isDeepStrictEqual(result, expected.result)) {
      this.#find('changed', `the result of ${row.marker} is ${JSON.stringify(result)}`, row.id);
    }
    if (file !== undefined && this.#evidence.files.get(row.id) !== expected.result.sha256) {
      this.#find('lost', `the content of the file of ${row.marker}`, row.id);
    }
  }

  /** @returns whether a newer execution with the same key took its place, and so it needn't come out as expected */
  #judgeSupersession(row: ExecutionRow, { kind, input }: SentStart): boolean {
    const code = SUPERSEDED[kind];
    if (code === undefined || row.status !== 'cancelled') return false;
    if (row.cancel_code !== code) {
      this.#find('changed', `${row.marker} is cancelled: ${row.cancel_code ?? 'by request'}`, row.id);
    }
    const seen = new Set<number>();
    let last: ExecutionRow | undefined = row;
    while (last !== undefined && last.cancelled_for !== null && !seen.has(last.id)) {
      seen.add(last.id);
      last = this.#byId.get(last.cancelled_for);
    }
    const other = this.#startByMarker.get(last?.marker ?? '');
    const isRight = other?.kind === kind && other.input.key === input.key && !seen.has(last?.id ?? 0);
    if (!isRight) this.#find('lost', `${row.marker} was cancelled, and nothing took its place`, row.id);
    return true;
  }

  /** It failed because its worker crashed three times, or because that happened to its child. */
  #isExcused(row: ExecutionRow, children: readonly ExecutionRow[]): boolean {
    if (row.status !== 'failed') return false;
    const code = this.#evidence.details.get(row.id)?.error?.code;
    if (code === 'worker_crashed') return row.crashed_attempts >= 3 && this.#crashes.wereInjected(row.id);
    return code === 'child_failed' && children.some((child) => this.#isExcused(child, []));
  }

  #judgeCalls(row: ExecutionRow, expected: Expectation, isExcused: boolean): void {
    const calls = this.#callsByExecution.get(row.id) ?? [];
    const made = new Set(calls.map(placeOf));
    const planned = new Set(expected.calls.map(placeOf));
    for (const place of made.difference(planned))
      this.#find('doubled', `call ${place} of ${row.marker}`, row.id);
    if (isExcused) return;
    for (const place of planned.difference(made))
      this.#find('lost', `call ${place} of ${row.marker}`, row.id);
  }

  /** One key for each call of an execution, and no key for two of them. */
  #judgeDeliveryKeys(): void {
    const placesByKey = new Map<string, string>();
    const keysByPlace = new Map<string, string>();
    for (const call of this.#evidence.calls) {
      const place = `${call.executionId} ${placeOf(call)}`;
      const key = keysByPlace.get(place) ?? call.deliveryKey;
      if (key !== call.deliveryKey || key === '')
        this.#find('doubled', `call ${place} has several keys`, call.executionId);
      keysByPlace.set(place, key);
      const first = placesByKey.get(key) ?? place;
      if (first !== place) this.#find('doubled', `${first} and ${place} have the same key`, call.executionId);
      placesByKey.set(key, first);
    }
  }

  /** Each end of a node is recorded once, and no call of it follows. */
  #judgeNodeEnds(): void {
    const endedAt = new Map<string, number>();
    for (const { executionId, node, iteration, recordedAtMs } of this.#evidence.nodeEnds) {
      const place = `${executionId} ${placeOf({ node, index: iteration.at(-1) ?? 0 })} ${iteration.length}`;
      if (endedAt.has(place)) this.#find('doubled', `the end of ${place} was recorded twice`, executionId);
      endedAt.set(place, recordedAtMs);
    }
    for (const call of this.#evidence.calls) {
      const depth = call.node === 'item' ? 1 : 0;
      const end = endedAt.get(`${call.executionId} ${placeOf(call)} ${depth}`);
      if (end === undefined || call.atMs <= end + TOLERANCE_MS) continue;
      if (this.#wasStopped(call)) this.#lateCalls.push(call);
      else {
        const late = Math.round(call.atMs - end);
        this.#find(
          'doubled',
          `call ${placeOf(call)} ${late} ms after its end was recorded`,
          call.executionId,
        );
      }
    }
  }

  /** A process that is stopped between its last look at the lease and the call sends it when it goes on. */
  #wasStopped({ atMs }: Call): boolean {
    return this.#evidence.faults.some(({ fault, endedAtMs }) => {
      return fault.kind === 'stop' && atMs > endedAtMs - 100 && atMs - endedAtMs < AFTER_STOP_MS;
    });
  }

  /** @returns whether it was cancelled, and so needn't come out as expected */
  #judgeCancellation(row: ExecutionRow): boolean {
    const attempts = this.#evidence.cancels.filter(({ executionId }) => executionId === row.id);
    const isTold = attempts.some(({ status }) => status === 200);
    const isPossible = attempts.some(({ status }) => status === null || status === 503);
    for (const { status, code } of attempts) {
      const isRight = status === null || [200, 429, 503].includes(status) || code === 'execution_final';
      if (!isRight) this.#find('unexpected', `the cancellation was refused: ${status} ${code}`, row.id);
    }
    const isCancelled = row.status === 'cancelled';
    if (isTold && !isCancelled) this.#find('changed', `it was cancelled and is ${row.status}`, row.id);
    if (isCancelled && !isTold && !isPossible) this.#find('changed', 'it is cancelled, but was not', row.id);
    const lastCallMs = (row.completed_at?.getTime() ?? 0) + AFTER_CANCEL_MS;
    const calls = this.#callsByExecution.get(row.id) ?? [];
    if (isCancelled && calls.some(({ atMs }) => atMs > lastCallMs)) {
      this.#find('doubled', 'a call after it was cancelled', row.id);
    }
    return isCancelled;
  }

  #judgeCallbacks(row: ExecutionRow, isExcused: boolean): void {
    const attempts = this.#evidence.callbacks.filter(({ marker }) => marker === row.marker);
    const taken = attempts.filter(({ status }) => status === 200);
    if (taken.length > 1) this.#find('doubled', `${taken.length} callbacks were accepted`, row.id);
    // One without a clear response may have been stored.
    const unknown = attempts.filter(({ status }) => status === null || status === 503);
    for (const { status, code } of attempts) {
      const isKnown = status === null || [200, 503, 429].includes(status);
      const isRepeat = status === 409 && taken.length + unknown.length > 0;
      if (!isKnown && !isRepeat && !isExcused) {
        this.#find('unexpected', `a callback was refused: ${status} ${code}`, row.id);
      }
    }
    if (isExcused || row.status !== 'completed') return;
    const value = this.#evidence.details.get(row.id)?.node_outputs.result?.output.value;
    const possible = taken.length > 0 ? taken : unknown;
    if (!possible.some((attempt) => attempt.value === value)) {
      this.#find(
        'lost',
        `the callback ${possible[0]?.value ?? ''} (the result has ${String(value)})`,
        row.id,
      );
    }
  }

  #judgeFinals(): void {
    const { firstFinals, lastFinals } = this.#evidence;
    for (const [id, first] of firstFinals) {
      const last = lastFinals.get(id);
      if (last === undefined) this.#find('lost', 'it was final and is gone', id);
      else if (!isDeepStrictEqual(last, first)) this.#find('changed', 'it was final and changed', id);
    }
  }

  #judgeSchedule(): void {
    const { fires, scheduled } = this.#evidence;
    const first = fires[0]?.fireTime.getTime() ?? 0;
    for (const [n, { fireTime, outcome, executionId }] of fires.entries()) {
      const at = fireTime.toISOString();
      if (fireTime.getTime() !== first + n * 1_000) {
        this.#find('lost', `the schedule has a gap or a double fire before ${at}`);
        break;
      }
      const started = scheduled.filter((execution) => execution.at === at);
      const ids = started.map(({ id }) => id);
      if (outcome !== 'started' || !ids.includes(executionId ?? 0))
        this.#find('lost', `the fire of ${at}`, ...ids);
      if (ids.length > 1) this.#find('doubled', `the fire of ${at}`, ...ids);
    }
    if (scheduled.length > fires.length) this.#find('doubled', 'executions without a fire');
  }

  #judgeLimits(): void {
    const late = new Set(this.#lateCalls);
    const calls = this.#evidence.calls.filter((call) => !late.has(call));
    const limitOf = ({ marker }: Call): string => {
      const start = this.#startByMarker.get(marker);
      return start?.kind === 'keyed' ? `keyed ${start.input.key}` : (marker.split('-', 1)[0] ?? '');
    };
    for (const [name, group] of Map.groupBy(calls, limitOf)) {
      if (name === 'limited') this.#judgeLimit(group, LIMIT);
      if (name.startsWith('keyed')) this.#judgeLimit(group, KEYED_LIMIT);
    }
  }

  /** Calls that were open at the same time; of one execution the last one counts. */
  #judgeLimit(calls: readonly Call[], limit: number): void {
    const events = calls
      .flatMap((call) => [
        { atMs: call.atMs, call, isOpen: true },
        { atMs: call.endedAtMs, call, isOpen: false },
      ])
      .toSorted((a, b) => a.atMs - b.atMs || Number(a.isOpen) - Number(b.isOpen));
    const open = new Map<number, Call>();
    for (const { call, isOpen } of events) {
      if (isOpen) open.set(call.executionId, call);
      else if (open.get(call.executionId) === call) open.delete(call.executionId);
      if (open.size > limit) {
        this.#find('exceeded', `${open.size} executions called at the same time`, ...open.keys());
      }
    }
  }

  /** Each release at its moment, one for each interval. */
  #judgeRates(): void {
    for (const { was_due, released, intervals } of this.#evidence.releases) {
      if (was_due && intervals >= released) continue;
      this.#find('exceeded', `a rate released ${released}, ${intervals} intervals, due: ${was_due}`);
    }
  }

  #judgeProcesses(): void {
    for (const { member, pid, end, code, output } of this.#evidence.processes) {
      // One that is still starting has no handler for SIGTERM yet, and ends by the signal itself.
      if (end === 'killed' || (end === 'terminated' && (code === 0 || code === null))) continue;
      const lastLine = output.trim().split('\n').at(-1) ?? '';
      this.#find('unexpected', `${member} (${pid}) ended ${end} with code ${code}: ${lastLine}`);
    }
  }
}

const placeOf = ({ node, index }: { readonly node: string; readonly index: number }): string =>
  `${node}[${index}]`;
