import { MAX_STREAM_MS } from '@millrace/http/watcher';
import { Wakeup } from '@millrace/runtime/wakeup';
import { type AdminExecutionRow, findItems, findNewerIds } from '@millrace/service/executions/admin-store';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { presentAdminItem } from './present.ts';

/** Changes are collected for this long; an execution that changes often is reported once. */
const PAUSE_MS = 400;
/** Starts send no signal, and signals can be lost, so new executions are polled for at this interval. */
const POLL_MS = 2_000;
/** Ids read per poll; nobody could follow changes faster than this anyway. */
const MAX_IDS = 500;
/** Rows per message. */
const MAX_PENDING = 100;
const HEARTBEAT_MS = 15_000;
const RETRY_MS = 1_000;

/** The server-sent events `changed` and `missed` of an organisation's executions. */
export type FollowList = (organisationId: number, reply: FastifyReply) => AsyncGenerator<string>;

interface Listener {
  readonly organisationId: number;
  readonly wakeup: Wakeup;
  /** Rows still to be sent, by id. */
  readonly pending: Map<number, AdminExecutionRow>;
  hasMissed: boolean;
  /** The newest execution it was notified of. */
  lastId: number;
}

/** One poll of the database serves all listeners of all organisations. */
export function createFollowList(app: FastifyInstance, { db, notifier, log }: AppDeps): FollowList {
  const listeners = new Set<Listener>();
  let changedIds = new Set<number>();
  let isClosing = false;
  let looking: Promise<void> | null = null;
  const changed = new Wakeup();

  notifier.onChanged((id) => {
    if (listeners.size === 0) return;
    changedIds.add(id);
    changed.wake();
  });
  notifier.onGap(() => {
    for (const listener of listeners) miss(listener);
  });
  app.addHook('preClose', async () => {
    isClosing = true;
    changed.wake();
    for (const { wakeup } of listeners) wakeup.wake();
    await looking;
  });

  async function lookWhileListened(): Promise<void> {
    while (listeners.size > 0 && !isClosing) {
      await changed.wait(POLL_MS);
      try {
        await look();
      } catch (error) {
        log.debug({ err: error }, 'could not read changes of executions; the lists will reload');
        for (const listener of listeners) miss(listener);
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    looking = null;
  }

  async function look(): Promise<void> {
    const ids = [...changedIds];
    changedIds = new Set();
    const organisationIds = [...new Set([...listeners].map(({ organisationId }) => organisationId))];
    for (const listener of listeners) await addNewer(listener, ids);
    if (ids.length > MAX_IDS) for (const listener of listeners) miss(listener);
    const rows = ids.length === 0 ? [] : await findItems(db, organisationIds, ids.slice(-MAX_IDS));
    for (const listener of listeners) {
      for (const row of rows) if (row.organisation_id === listener.organisationId) enqueue(listener, row);
    }
  }

  async function addNewer(listener: Listener, ids: number[]): Promise<void> {
    const newer = await findNewerIds(db, listener.organisationId, listener.lastId, MAX_PENDING);
    listener.lastId = newer[0]?.id ?? listener.lastId;
    if (newer.length === MAX_PENDING) miss(listener);
    for (const { id } of newer) if (!ids.includes(id)) ids.push(id);
  }

  return async function* followList(organisationId, reply) {
    const [newest] = await findNewerIds(db, organisationId, 0, 1);
    const wakeup = new Wakeup();
    const listener: Listener = {
      organisationId,
      wakeup,
      pending: new Map(),
      hasMissed: false,
      lastId: newest?.id ?? 0,
    };
    const endsAt = performance.now() + MAX_STREAM_MS;
    let isGone = reply.raw.destroyed;
    reply.raw.once('close', () => {
      isGone = true;
      wakeup.wake();
    });
    listeners.add(listener);
    looking ??= lookWhileListened();
    try {
      // A reconnecting client has missed what happened in between, and the first read may be older than this stream.
      yield `retry: ${RETRY_MS}\n\nevent: missed\ndata: {}\n\n`;
      while (!isGone && !isClosing && performance.now() < endsAt) {
        await wakeup.wait(HEARTBEAT_MS);
        yield takeText(listener);
      }
    } finally {
      listeners.delete(listener);
    }
  };
}

function enqueue(listener: Listener, row: AdminExecutionRow): void {
  listener.pending.set(row.id, row);
  if (listener.pending.size > MAX_PENDING) {
    const [oldest] = listener.pending.keys();
    listener.pending.delete(oldest ?? row.id);
    listener.hasMissed = true;
  }
  listener.wakeup.wake();
}

function miss(listener: Listener): void {
  listener.hasMissed = true;
  listener.wakeup.wake();
}

function takeText(listener: Listener): string {
  const items = [...listener.pending.values()].map(presentAdminItem);
  const missed = listener.hasMissed ? 'event: missed\ndata: {}\n\n' : '';
  listener.pending.clear();
  listener.hasMissed = false;
  const changes = items.length === 0 ? '' : `event: changed\ndata: ${JSON.stringify({ items })}\n\n`;
  return changes + missed || ': nothing new\n\n';
}
