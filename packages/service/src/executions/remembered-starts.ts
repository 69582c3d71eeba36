import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { remember } from '@millrace/engine';
import type { KeyGrant, StartPermit } from '@millrace/runtime/start-permits';
import type { StartableWorkflow } from '@millrace/runtime/start-row';
import type { StartLookup } from './store.ts';

/** Workflows that a process remembers; the one remembered longest is forgotten first. */
const MAX_WORKFLOWS = 10_000;
/** How long a workflow is remembered; it may be forgotten that it changed much later. */
const MAX_KNOWN_MS = 60_000;
/** How long what is remembered of a workflow isn't replaced by the same, so that starts shortly after one another share a permit. */
const SHARED_MS = 100;
/**
 * How long reserved ids are used, and the database's time that came with them. Lists are in the order of ids: by this much, a start may be listed
 * below one that another process accepted before.
 */
const MAX_AGE_MS = 250;
const MIN_IDS = 4;
const MAX_IDS = 500;
/** A few starts at the same moment say little about how many follow. */
const MIN_OBSERVED_MS = 50;

/** What was found by earlier starts, for those that follow. */
export interface RememberedStarts {
  /** Notes what a look-up finds: a workflow that can be started, and the id that was reserved. */
  lookUp(find: () => Promise<StartLookup>): Promise<StartLookup>;
  /** The same for several. */
  lookUpAll(find: () => Promise<StartLookup[]>): Promise<StartLookup[]>;
  /**
   * The same without asking the database, with the permit that the start needs; null if it has to be asked. Waits at most while ids are being
   * reserved, as long as a look-up takes.
   */
  recall(organisationId: number, workflowId: number, grant: KeyGrant): Promise<StartLookup | null>;
  /**
   * The database couldn't be reached. What answers next may be a standby that lacks the last transactions and counts its own like them, so that nothing
   * shows whether they came before a look-up.
   */
  noteUnavailable(): void;
}

interface KnownWorkflow {
  readonly workflow: StartableWorkflow;
  readonly snapshot: string;
  readonly at: number;
}

interface ReservedIds {
  /** The lowest comes last. */
  readonly ids: number[];
  /** The database's time when they were reserved, in epoch milliseconds. */
  readonly databaseMs: number;
  /** When the statement was sent, and when it was answered. */
  readonly sentAt: number;
  readonly answeredAt: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
const NONE: ReservedIds = { ids: [], databaseMs: 0, sentAt: NEVER, answeredAt: NEVER };

/**
 * Remembers workflows that could be started, and reserves ids ahead while starts keep arriving, so that a start needs the database only to be stored.
 *
 * Whoever sends a start after another was accepted expects it above that one in lists. So ids are dropped once a look-up of this process has got a
 * later one.
 * @param now monotonic milliseconds
 */
export function createRememberedStarts(
  db: Queryable,
  now: () => number = () => performance.now(),
): RememberedStarts {
  const workflows = new Map<string, KnownWorkflow>();
  const permits = new WeakMap<KnownWorkflow, StartPermit>();
  let reserved = NONE;
  /** False: the database couldn't be asked. */
  let reserving: Promise<boolean> | null = null;
  /** How many starts have wanted an id since the last reservation began, and since when. */
  let wanted = 0;
  let wantedSince = now();
  let askedAt = NEVER;
  /** The last id that this process got. */
  let lastId = 0;
  /** The database's time as the last look-up found it. */
  let foundMs = 0;

  function forgetWorkflows(): void {
    workflows.clear();
    reserved = NONE;
  }

  function reserveMore(at: number): Promise<boolean> {
    // As many as will be needed while they are used, if starts keep arriving as they did.
    const needed = (wanted * MAX_AGE_MS) / Math.max(MIN_OBSERVED_MS, at - wantedSince);
    const count = Math.min(MAX_IDS, Math.max(MIN_IDS, wanted, Math.ceil(needed)));
    wanted = 0;
    wantedSince = at;
    return reserveIds(db, count)
      .then(({ ids, databaseMs }) => {
        const [last = 0] = ids;
        // A look-up has got a later one meanwhile.
        reserved = last < lastId ? NONE : { ids, databaseMs, sentAt: at, answeredAt: now() };
        lastId = Math.max(lastId, last);
        return true;
      })
      .catch(() => {
        forgetWorkflows();
        return false;
      })
      .finally(() => {
        reserving = null;
      });
  }

  /** An id, and the database's time, never later than that: the response took some of it. */
  function takeReserved(at: number): { readonly id: number; readonly databaseMs: number } | undefined {
    const { databaseMs, sentAt, answeredAt } = reserved;
    if (at - sentAt >= MAX_AGE_MS) reserved = NONE;
    const id = reserved.ids.pop();
    return id === undefined
      ? undefined
      : { id, databaseMs: Math.max(foundMs, databaseMs + Math.floor(at - answeredAt)) };
  }

  async function takeId() {
    const at = now();
    // Not for a lone start: nobody would use them in time.
    const keepArriving = at - askedAt < MAX_AGE_MS;
    if (!keepArriving) {
      wanted = 0;
      wantedSince = at;
    }
    askedAt = at;
    wanted += 1;
    let taken = takeReserved(at);
    const isLow = reserved.ids.length <= wanted || (at - reserved.sentAt) * 2 > MAX_AGE_MS;
    if (isLow && keepArriving) reserving ??= reserveMore(at);
    // The first reservation may not have been for so many.
    for (let tries = 0; taken === undefined && keepArriving && tries < 2; tries += 1) {
      reserving ??= reserveMore(now());
      if (!(await reserving)) return undefined;
      taken = takeReserved(now());
    }
    return taken;
  }

  function note({ workflow, isPaused, executionId, now: foundAt, snapshot }: StartLookup, at: number): void {
    foundMs = foundAt.getTime();
    if (executionId > lastId) {
      lastId = executionId;
      reserved = NONE;
    }
    if (workflow === null) return;
    const name = nameOf(workflow.organisationId, workflow.id);
    const isStartable = !isPaused && (workflow.status === 'draft' || workflow.status === 'active');
    const known = workflows.get(name);
    if (!isStartable) workflows.delete(name);
    else if (known === undefined || at - known.at >= SHARED_MS || !isSame(known.workflow, workflow))
      remember(workflows, name, { workflow, snapshot, at }, MAX_WORKFLOWS);
  }

  function permitFor(known: KnownWorkflow, grant: KeyGrant): StartPermit {
    const last = permits.get(known);
    if (last?.grant === grant) return last;
    const permit = { grant, workflowSnapshot: known.snapshot };
    permits.set(known, permit);
    return permit;
  }

  return {
    async lookUp(find) {
      const at = now();
      const found = await find();
      note(found, at);
      return found;
    },
    async lookUpAll(find) {
      const at = now();
      const found = await find();
      for (const each of found) note(each, at);
      return found;
    },
    async recall(organisationId, workflowId, grant) {
      const name = nameOf(organisationId, workflowId);
      const known = workflows.get(name);
      if (known === undefined || now() - known.at >= MAX_KNOWN_MS) return null;
      const taken = await takeId();
      if (taken === undefined) return null;
      const { workflow, snapshot } = known;
      return {
        ...{ workflow, snapshot, executionId: taken.id, now: new Date(taken.databaseMs) },
        ...{ isPaused: false, isListening: false, record: null, permit: permitFor(known, grant) },
      };
    },
    noteUnavailable: forgetWorkflows,
  };
}

function nameOf(organisationId: number, workflowId: number): string {
  return `${organisationId} ${workflowId}`;
}

function isSame(a: StartableWorkflow, b: StartableWorkflow): boolean {
  return (
    a.version === b.version && a.status === b.status && a.name === b.name && a.isTestMode === b.isTestMode
  );
}

/** @returns the highest id first, and the database's time */
async function reserveIds(db: Queryable, count: number): Promise<Pick<ReservedIds, 'ids' | 'databaseMs'>> {
  const row = await queryRow<{ ids: number[]; ms: number }>(
    db,
    `SELECT array_agg(nextval('execution_ids')) AS ids,
       floor(extract(epoch FROM clock_timestamp()) * 1000)::double precision AS ms
     FROM generate_series(1, $1::integer)`,
    [count],
    'reserve_ids_ahead',
  );
  return { ids: row.ids.toSorted((a, b) => b - a), databaseMs: row.ms };
}
