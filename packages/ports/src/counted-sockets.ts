import type { GuardedSockets } from '@millrace/egress/guarded-socket';
import type { Caller } from '@millrace/runtime/node-services';

/**
 * Sockets of one attempt of a node. Its first connection waits for its host's turn and counts as a call until it is closed. Further ones end
 * what the first one does, and must not wait for it.
 */
export function countedSockets(
  sockets: (organisationId: number) => GuardedSockets,
  { organisationId, waitForHost }: Pick<Caller, 'organisationId' | 'waitForHost'>,
): GuardedSockets {
  const opened = sockets(organisationId);
  let isFirst = true;
  return {
    connect(target, signal) {
      const wait = isFirst ? waitForHost?.() : undefined;
      isFirst = false;
      return opened.connect(target, signal, wait);
    },
  };
}
