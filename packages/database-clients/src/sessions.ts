import type { GuardedSockets } from '@millrace/egress/guarded-socket';
import { ServiceError } from '@millrace/engine';
import { countedSockets } from '@millrace/ports/counted-sockets';
import type { Caller } from '@millrace/runtime/node-services';
import { hidePassword } from './sql/errors.ts';
import { createGates } from './sql/gates.ts';

export interface SessionDeps {
  /** Egress of an organisation. */
  readonly sockets: (organisationId: number) => GuardedSockets;
  /** Maximum connections from this process to one server as one user. Default 10. */
  readonly maxConnections?: number;
}

export type SessionCaller = Pick<Caller, 'organisationId' | 'waitForHost'>;

/** What a session signs in to, and the password that no error may repeat. */
interface Target {
  readonly place: readonly (string | number | null)[];
  readonly password: string | null;
}

/** Runs the work of one session when there is room for another connection to its server. */
export type RunSession = <Result>(
  caller: SessionCaller,
  target: Target,
  signal: AbortSignal,
  work: (sockets: GuardedSockets) => Promise<Result>,
) => Promise<Result>;

/** Sessions with databases: each has its own connection over guarded sockets, closed afterwards. */
export function createSessions({ sockets, maxConnections = 10 }: SessionDeps): RunSession {
  const gates = createGates(maxConnections);
  return async (caller, { place, password }, signal, work) => {
    const leave = await gates.enter(JSON.stringify(place), signal);
    try {
      return await work(countedSockets(sockets, caller));
    } catch (error) {
      throw error instanceof ServiceError ? hidePassword(error, password ?? '') : error;
    } finally {
      leave();
    }
  };
}
