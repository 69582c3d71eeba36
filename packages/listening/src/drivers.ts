import type { ListenSource, ListenSourceOf } from '@millrace/engine';
import type { ConnectContext, Connection, Driver } from './source.ts';

type Kind = ListenSource['kind'];

/** Each kind of source; what it needs is loaded by the first connection. */
const DRIVERS: { readonly [K in Kind]: Driver<ListenSourceOf<K>> } = {
  imap: lazy(async () => (await import('./imap/connect.ts')).connectToMailbox, true),
  redis: lazy(async () => (await import('./redis/connect.ts')).connectToRedis),
  mqtt: lazy(async () => (await import('./mqtt/connect.ts')).connectToMqtt),
  kafka: lazy(async () => (await import('./kafka/connect.ts')).connectToKafka),
  postgresql: lazy(async () => (await import('./postgresql/connect.ts')).connectToPostgresql),
  sqs: lazy(async () => (await import('./sqs/connect.ts')).connectToSqs),
};

/** How sources of this kind are listened to. */
export function driverOf(kind: Kind): Driver {
  return DRIVERS[kind];
}

function lazy<Source extends ListenSource>(
  load: () => Promise<(context: ConnectContext<Source>) => Promise<Connection>>,
  keepsUnacknowledged = false,
): Driver<Source> {
  return { keepsUnacknowledged, connect: async (context) => (await load())(context) };
}
