import type { OwnFileCheck } from '@millrace/connectors/own-check';
import { tooLarge } from '@millrace/connectors/own-file';
import { type Message, message } from '@millrace/messages';
import { checkPool } from './check-pool.ts';

/** The largest file takes 200 ms on a busy machine. */
const TIMEOUT_MS = 20_000;
const never = new AbortController().signal;

/** Checks a connector's file in a thread, as the first check of a process takes longer than the main thread may be held. */
export async function checkConnectorInThread(text: string, organisationId: number): Promise<OwnFileCheck> {
  const refused = tooLarge(text);
  if (refused !== null) return faulty(refused);
  const job = { kind: 'connector', text, timeoutMs: TIMEOUT_MS } as const;
  const { outcome } = await checkPool.run(job, organisationId, never);
  if (outcome.kind === 'read') return outcome.check;
  return faulty(message('connectors.check_stopped'));
}

function faulty(fault: Message): OwnFileCheck {
  return { kind: 'faulty', faults: [{ pointer: '', message: fault }] };
}
