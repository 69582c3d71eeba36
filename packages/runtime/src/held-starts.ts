import type { Database, Queryable } from '@millrace/database/database';
import { admit, type CellRate, debouncedUntil, dueAfter, releasable } from '@millrace/engine';
import {
  cancelReplaced,
  type DebouncedStart,
  dropEmptyDebounces,
  holdUntil,
  type LockedDebounce,
  type LockedRate,
  lockDebounces,
  lockDueRates,
  lockRates,
  type QueuedStart,
  type RateChange,
  type RatedKey,
  type Replacement,
  recordDebounces,
  recordRates,
  recordReleases,
  releaseStarts,
  type StartKey,
  takeEndedDebounces,
} from './held-start-statements.ts';
import { insertExecutions, type StartedRow, type StartHold, type StartRow } from './start-statements.ts';

/** The starts that were stored, and for refused ones, how long until they would be accepted. */
export interface HeldStarts {
  readonly stored: readonly StartedRow[];
  readonly refusedForMs: ReadonlyMap<number, number>;
}

/** Starts to be stored together were refused, because the rate of one would hold it for too long. */
export class StartRefusedError extends Error {
  override readonly name = 'StartRefusedError';
  /** After which they would be accepted. */
  readonly waitMs: number;

  constructor(waitMs: number) {
    super(`a start would have to wait for its rate; it would be accepted in ${Math.ceil(waitMs)} ms`);
    this.waitMs = waitMs;
  }
}

/**
 * Stores starts in a transaction, held as required by their workflows' rate and debounce. The rows of their keys are locked first, always
 * debounces before rates and each in one order, so that no two transactions wait for each other.
 * @param maxWaitMs a start that its rate would hold for longer is refused; null for none
 */
export async function storeStarts<Row extends StartRow>(
  tx: Queryable,
  rows: readonly Row[],
  maxWaitMs: number | null,
  insert: (tx: Queryable, rows: readonly Row[]) => Promise<StartedRow[]> = insertExecutions,
): Promise<HeldStarts> {
  if (rows.every((row) => row.hold === null))
    return { stored: await insert(tx, rows), refusedForMs: new Map() };
  // In the order of their ids, which is that of the items of a batch.
  const inOrder = rows.toSorted((a, b) => a.id - b.id);
  const debounced = inOrder.filter((row) => row.hold?.debounce != null);
  const rated = inOrder.filter((row) => row.hold?.debounce === null && row.hold.rate !== null);
  const debounces = await lockDebouncesOf(tx, debounced);
  const rates = await lockRatesOf(tx, rated);

  const heldUntil = new Map<number, number>();
  for (const { rows: waiting, wait, locked } of debounces) {
    for (const row of waiting) heldUntil.set(row.id, debouncedUntil(wait, locked.first_us, locked.now_us));
  }
  const refusedForMs = new Map<number, number>();
  for (const { rows: starting, key, locked } of rates) {
    const maxWaitUs = maxWaitMs === null ? null : maxWaitMs * 1_000;
    const admission = admit(stateOf(locked), key.rate, locked.now_us, starting.length, maxWaitUs);
    for (const [place, row] of starting.slice(admission.direct).entries()) {
      const until = admission.heldUntilUs[place];
      if (until !== undefined) heldUntil.set(row.id, until);
      else
        refusedForMs.set(row.id, (admission.refusedForUs[place - admission.heldUntilUs.length] ?? 0) / 1_000);
    }
  }

  const accepted = rows.filter((row) => !refusedForMs.has(row.id));
  const withTimes = accepted.map((row) => {
    const until = heldUntil.get(row.id);
    return until === undefined ? row : { ...row, heldUntil: toDate(until) };
  });
  const stored = withTimes.length === 0 ? [] : await insert(tx, withTimes);
  const storedIds = new Set(stored.map(({ id }) => id));
  await keepDebounces(tx, debounces, storedIds, heldUntil);
  await keepRates(
    tx,
    rates.map(({ rows: starting, key, locked }) => {
      const kept = starting.filter((row) => storedIds.has(row.id)).map((row) => row.id);
      return {
        key,
        locked,
        direct: kept.filter((id) => !heldUntil.has(id)).length,
        held: kept.filter((id) => heldUntil.has(id)),
      };
    }),
  );
  return { stored, refusedForMs };
}

/** Keys and debounces that one transaction releases; more are released by the next one. */
const AT_ONCE = 200;

/**
 * Releases held starts that are due by the database's clock, of all processes. Concurrent callers
 * share the keys.
 */
export async function releaseHeldStarts(db: Database): Promise<void> {
  await db.transaction(endDebounces);
  await db.transaction(releaseByRates);
}

async function endDebounces(tx: Queryable): Promise<void> {
  const ended = await takeEndedDebounces(tx, AT_ONCE);
  if (ended.length === 0) return;
  const free = ended.filter((row) => row.rate_key_hash === null).map((row) => row.execution_id);
  const groups = new Map<string, { key: RatedKey; ids: number[] }>();
  for (const row of ended) {
    if (row.rate_key_hash === null) continue;
    const key = {
      organisationId: row.organisation_id,
      workflowId: row.workflow_id,
      keyHash: row.rate_key_hash,
      rate: { intervalUs: row.rate_interval_us, toleranceUs: row.rate_tolerance_us },
    };
    const group = groups.get(nameOf(key)) ?? { key, ids: [] };
    group.ids.push(row.execution_id);
    groups.set(nameOf(key), group);
  }
  const locked = await lockAll(
    tx,
    [...groups.values()].map(({ key }) => key),
  );
  const holds = free.map((executionId) => ({ executionId, until: null as Date | null }));
  const kept: KeptRate[] = [];
  for (const [name, { key, ids }] of groups) {
    const rate = present(locked.get(name));
    const { direct, heldUntilUs } = admit(stateOf(rate), key.rate, rate.now_us, ids.length, null);
    const held = ids.slice(direct);
    kept.push({ key, locked: rate, direct, held });
    for (const executionId of ids.slice(0, direct)) holds.push({ executionId, until: null });
    for (const [place, executionId] of held.entries()) {
      holds.push({ executionId, until: toDate(heldUntilUs[place] ?? rate.now_us) });
    }
  }
  await holdUntil(tx, holds);
  await keepRates(tx, kept);
}

async function releaseByRates(tx: Queryable): Promise<void> {
  const due = await lockDueRates(tx, AT_ONCE);
  const byName = new Map(due.map((row) => [nameOf(keyOf(row)), row]));
  const releases = due.map((row) => ({
    ...keyOf(row),
    count: releasable(stateOf(row), rateOf(row), row.now_us),
  }));
  if (releases.length === 0) return;
  const released = await releaseStarts(tx, releases);
  await recordReleases(
    tx,
    released.map((result) => {
      const key = { organisationId: 0, workflowId: result.workflow_id, keyHash: result.key_hash };
      const row = present(byName.get(nameOf(key)));
      return {
        ...key,
        dueUs: dueAfter(row.due_us, rateOf(row), row.now_us, result.released),
        gone: result.gone,
      };
    }),
  );
}

interface Debounced<Row> {
  readonly key: StartKey;
  readonly wait: NonNullable<StartHold['debounce']>;
  readonly locked: LockedDebounce;
  /** In their order. */
  readonly rows: readonly Row[];
}

async function lockDebouncesOf<Row extends StartRow>(
  tx: Queryable,
  rows: readonly Row[],
): Promise<Debounced<Row>[]> {
  if (rows.length === 0) return [];
  const groups = Map.groupBy(rows, (row) =>
    nameOf({ ...keysOf(row), keyHash: present(row.hold?.debounce).keyHash }),
  );
  const keys = [...groups.values()].map((group) => {
    const last = present(group.at(-1));
    return { ...keysOf(last), keyHash: present(last.hold?.debounce).keyHash };
  });
  const locked = new Map(
    (await lockDebounces(tx, keys)).map((row) => [
      nameOf({ workflowId: row.workflow_id, keyHash: row.key_hash }),
      row,
    ]),
  );
  return keys.map((key) => {
    const group = present(groups.get(nameOf(key)));
    const wait = present(group.at(-1)?.hold?.debounce);
    return { key, wait, locked: present(locked.get(nameOf(key))), rows: group };
  });
}

/** For each key, the last stored start waits; earlier ones are cancelled. */
async function keepDebounces<Row extends StartRow>(
  tx: Queryable,
  debounces: readonly Debounced<Row>[],
  storedIds: ReadonlySet<number>,
  heldUntil: ReadonlyMap<number, number>,
): Promise<void> {
  const waiting: DebouncedStart[] = [];
  const replaced: Replacement[] = [];
  const empty: StartKey[] = [];
  for (const { key, locked, rows } of debounces) {
    const stored = rows.filter((row) => storedIds.has(row.id));
    const last = stored.at(-1);
    if (last === undefined) {
      empty.push(key);
      continue;
    }
    waiting.push({
      ...key,
      executionId: last.id,
      dueUs: present(heldUntil.get(last.id)),
      rate: last.hold?.rate == null ? null : { ...key, ...last.hold.rate },
    });
    const earlier = stored.slice(0, -1).map(({ id }) => id);
    if (locked.execution_id !== null) earlier.push(locked.execution_id);
    replaced.push(...earlier.map((id) => ({ id, newerId: last.id })));
  }
  if (empty.length > 0) await dropEmptyDebounces(tx, empty);
  if (waiting.length > 0) await recordDebounces(tx, waiting);
  if (replaced.length > 0) await cancelReplaced(tx, replaced);
}

interface Rated<Row> {
  readonly key: RatedKey;
  readonly locked: LockedRate;
  /** In their order. */
  readonly rows: readonly Row[];
}

async function lockRatesOf<Row extends StartRow>(tx: Queryable, rows: readonly Row[]): Promise<Rated<Row>[]> {
  const groups = Map.groupBy(rows, (row) =>
    nameOf({ ...keysOf(row), keyHash: present(row.hold?.rate).keyHash }),
  );
  const keys = [...groups.values()].map((group) => {
    const last = present(group.at(-1));
    return { ...keysOf(last), ...present(last.hold?.rate) };
  });
  const locked = await lockAll(tx, keys);
  return keys.map((key) => ({
    key,
    locked: present(locked.get(nameOf(key))),
    rows: present(groups.get(nameOf(key))),
  }));
}

async function lockAll(tx: Queryable, keys: readonly RatedKey[]): Promise<ReadonlyMap<string, LockedRate>> {
  const rows = keys.length === 0 ? [] : await lockRates(tx, keys);
  return new Map(rows.map((row) => [nameOf({ workflowId: row.workflow_id, keyHash: row.key_hash }), row]));
}

/** What became of the starts of a locked rate. */
interface KeptRate {
  readonly key: RatedKey;
  readonly locked: LockedRate;
  readonly direct: number;
  /** Ids of those that wait, in their order. */
  readonly held: readonly number[];
}

async function keepRates(tx: Queryable, kept: readonly KeptRate[]): Promise<void> {
  if (kept.length === 0) return;
  const changes = kept.map(
    ({ key, locked, direct, held }): RateChange => ({
      ...key,
      dueUs: dueAfter(locked.due_us, key.rate, locked.now_us, direct),
      held: held.length,
    }),
  );
  const queued = kept.flatMap(({ key, locked, held }) =>
    held.map(
      (executionId, place): QueuedStart => ({ ...key, executionId, seq: locked.last_seq + place + 1 }),
    ),
  );
  await recordRates(tx, changes, queued);
}

function keysOf(row: StartRow): Omit<StartKey, 'keyHash'> {
  return { organisationId: row.organisationId, workflowId: row.workflowId };
}

function keyOf(row: { organisation_id: number; workflow_id: number; key_hash: Buffer }): StartKey {
  return { organisationId: row.organisation_id, workflowId: row.workflow_id, keyHash: row.key_hash };
}

function stateOf({ due_us: dueAtUs, waiting }: Pick<LockedRate, 'due_us' | 'waiting'>) {
  return { dueAtUs, waiting };
}

function rateOf(row: { interval_us: number; tolerance_us: number }): CellRate {
  return { intervalUs: row.interval_us, toleranceUs: row.tolerance_us };
}

function nameOf({ workflowId, keyHash }: Pick<StartKey, 'workflowId' | 'keyHash'>): string {
  return `${workflowId} ${keyHash.toString('base64')}`;
}

function toDate(us: number): Date {
  return new Date(Math.ceil(us / 1_000));
}

function present<Value>(value: Value | null | undefined): Value {
  if (value == null) throw new Error('a start lost its key');
  return value;
}
