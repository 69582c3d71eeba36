import type { GuardedSockets } from '@millrace/egress/guarded-socket';
import { type CredentialOf, ServiceError, type SqlQuery, type SqlService } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Caller } from '@millrace/runtime/node-services';
import { countedSockets } from './counted-sockets.ts';
import { hidePassword } from './sql/errors.ts';
import { createGates } from './sql/gates.ts';
import { queryPostgresql } from './sql/postgresql.ts';

export interface SqlDeps {
  /** Egress of an organisation. */
  readonly sockets: (organisationId: number) => GuardedSockets;
  /** Maximum connections from this process to one database as one user. Default 10. */
  readonly maxConnections?: number;
}

/**
 * Runs statements on PostgreSQL and MySQL over guarded sockets. Every statement has its own connection, closed afterwards:
 * no setting, lock or temporary table carries over to the next statement, which may be another workflow's, and a changed
 * credential applies at once. Parameters are bound by the server, never inserted into the text.
 */
export function createSqlService({
  sockets,
  maxConnections = 10,
}: SqlDeps): (caller: Pick<Caller, 'organisationId' | 'waitForHost'>) => SqlService {
  const gates = createGates(maxConnections);
  return (caller) => ({
    async query(credential, query, signal) {
      const leave = await gates.enter(gateOf(credential), signal);
      try {
        return await run(countedSockets(sockets, caller), credential, query, signal);
      } catch (error) {
        throw error instanceof ServiceError ? hidePassword(error, credential.password) : error;
      } finally {
        leave();
      }
    },
  });
}

async function run(
  sockets: GuardedSockets,
  credential: CredentialOf<'sql'>,
  query: SqlQuery,
  signal: AbortSignal,
): ReturnType<SqlService['query']> {
  switch (credential.dialect) {
    case 'postgresql':
      return await queryPostgresql(sockets, credential, query, signal);
    case 'mysql': {
      // Few use it, and the driver takes memory.
      const { queryMysql } = await import('./sql/mysql.ts');
      return await queryMysql(sockets, credential, query, signal);
    }
    default:
      throw new ServiceError(
        'invalid_config',
        message('ports.wrong_database_kind', { kind: 'PostgreSQL or MySQL' }),
      );
  }
}

function gateOf({ dialect, host, port, database, username }: CredentialOf<'sql'>): string {
  return JSON.stringify([dialect, host, port, database, username]);
}
