import { type MongoService, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { createSessions, type SessionCaller, type SessionDeps } from './sessions.ts';

/**
 * Sends commands to MongoDB over guarded sockets. Each order has its own connection, closed afterwards. If the server isn't the primary of its
 * replica set, the order goes to the primary, whose address is checked like any other.
 */
export function createMongoService(deps: SessionDeps): (caller: SessionCaller) => MongoService {
  const inSession = createSessions(deps);
  return (caller) => ({
    async run(credential, order, signal) {
      if (credential.dialect !== 'mongodb') {
        throw new ServiceError('invalid_config', message('ports.wrong_database_kind', { kind: 'MongoDB' }));
      }
      const { host, port, username, password } = credential;
      return inSession(caller, { place: [host, port, username], password }, signal, async (sockets) => {
        // Few use it, and its format takes memory.
        const { runOrder } = await import('./mongodb/run.ts');
        return runOrder(sockets, credential, order, signal);
      });
    },
  });
}
