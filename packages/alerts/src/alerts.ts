import { createPeriodicTask, type PeriodicTask } from '@millrace/runtime/periodic-task';
import { composeMessages } from './compose.ts';
import { lookForAlerts } from './incident-store.ts';
import { noticeIncidents } from './notice.ts';
import { type SendDeps, sendDueMessages } from './send.ts';
import type { AlertSettings } from './settings.ts';

const INTERVAL_MS = 5_000;

export interface AlertDeps extends SendDeps {
  readonly config: { readonly alerts: AlertSettings };
}

/**
 * Notices what rules are about, makes messages of it and sends them, every few seconds. Any number of processes may do so on one
 * database.
 */
export function createAlerts(deps: AlertDeps): PeriodicTask {
  const stopping = new AbortController();
  const task = createPeriodicTask({
    work: (isStopping) => runAlerts(deps, isStopping, stopping.signal),
    pauseMs: () => INTERVAL_MS,
    onFailure: (error) => deps.log.warn({ err: error }, 'could not look after alerts; retrying'),
  });
  return {
    ...task,
    stop() {
      // A server that doesn't respond must not hold up the stop.
      stopping.abort();
      return task.stop();
    },
  };
}

/** One round. */
export async function runAlerts(
  deps: AlertDeps,
  isStopping: () => boolean = () => false,
  signal?: AbortSignal,
): Promise<void> {
  const { db, config } = deps;
  const work = await lookForAlerts(db);
  if (work.has_ended || work.has_checks) await noticeIncidents(db, isStopping);
  if (Object.values(work).includes(true)) {
    await composeMessages(db, config.alerts, isStopping);
    await sendDueMessages(deps, isStopping, signal);
  }
}
