import type { GuardedSockets } from '@millrace/egress/guarded-socket';
import { type CredentialOf, ServiceError, type SqlQuery, type SqlService } from '@millrace/engine';
import { message } from '@millrace/messages';
import { createSessions, type SessionCaller, type SessionDeps } from './sessions.ts';
import { queryPostgresql } from './sql/postgresql.ts';

/**
 * Runs statements on PostgreSQL, MySQL and SQL Server over guarded sockets. Every statement has its own connection, closed afterwards:
 * no setting, lock or temporary table carries over to the next statement, which may be another workflow's, and a changed
 * credential applies at once. Parameters are bound by the server, never inserted into the text.
 */
export function createSqlService(deps: SessionDeps): (caller: SessionCaller) => SqlService {
  const inSession = createSessions(deps);
  return (caller) => ({
    query: (credential, query, signal) => {
      const { dialect, host, port, database, username, password } = credential;
      const target = { place: [dialect, host, port, database, username], password };
      return inSession(caller, target, signal, (sockets) => run(sockets, credential, query, signal));
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
    case 'sqlserver': {
      const { querySqlServer } = await import('./sql/sqlserver.ts');
      return await querySqlServer(sockets, credential, query, signal);
    }
    default:
      throw new ServiceError(
        'invalid_config',
        message('ports.wrong_database_kind', { kind: 'PostgreSQL, MySQL or SQL Server' }),
      );
  }
}
