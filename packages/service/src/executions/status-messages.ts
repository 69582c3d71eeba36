import type { ExecutionStatus } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';

/** An execution's status as it appears in sentences. */
export const EXECUTION_STATUS_MESSAGES: { readonly [S in ExecutionStatus]: Message } = {
  queued: message('service.execution_queued'),
  running: message('service.execution_running'),
  waiting_async: message('service.execution_waiting_async'),
  completed: message('service.execution_completed'),
  failed: message('service.execution_failed'),
  cancelled: message('service.execution_cancelled'),
};
