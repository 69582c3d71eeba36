import { cutOnAbort } from '@millrace/egress/cut-on-abort';
import type { Egress } from '@millrace/egress/egress';
import { type KafkaOrder, type KafkaService, ServiceError } from '@millrace/engine';
import type { BrokerOptions } from '@millrace/kafka/broker';
import { message } from '@millrace/messages';
import { connectError } from '@millrace/ports/connect-error';
import { createSessions, type SessionCaller, type SessionDeps } from './sessions.ts';

/** Sends messages to Kafka over guarded sockets. Each order has its own connections, closed afterwards. */
export function createKafkaService(
  deps: SessionDeps & Pick<Egress, 'fetch'>,
): (caller: SessionCaller) => KafkaService {
  const inSession = createSessions(deps);
  return (caller) => ({
    send: (credential, order, signal) => {
      const target = { place: [credential.brokers, credential.username], password: credential.password };
      const fetch = deps.fetch(caller.organisationId);
      return inSession(caller, target, signal, (sockets) =>
        send(order, { sockets, fetch, credential, signal }),
      );
    },
  });
}

async function send(
  { topic, messages, timeoutMs }: KafkaOrder,
  options: BrokerOptions,
): ReturnType<KafkaService['send']> {
  // Loaded at first use, because it takes memory.
  const [{ KafkaCluster }, { sendMessages }] = await Promise.all([
    import('@millrace/kafka/cluster'),
    import('@millrace/kafka/producer'),
  ]);
  const { signal } = options;
  const limit = AbortSignal.timeout(timeoutMs);
  const until = AbortSignal.any([signal, limit]);
  const records = messages.map(({ key, value, headers, partition }) => ({
    key: key === null ? null : Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
    headers: Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)] as const),
    partition,
  }));
  const cluster = await KafkaCluster.open({ ...options, signal: until }).catch((error: unknown) => {
    throw limit.aborted && !signal.aborted
      ? tooSlow(timeoutMs)
      : connectError(error, 'kafka_connection_failed');
  });
  try {
    const chance = { nowMs: Date.now(), choice: Math.random() };
    return await cutOnAbort(
      until,
      () => cluster.close(),
      () => sendMessages(cluster, topic, records, { timeoutMs, ...chance }),
    );
  } catch (error) {
    // What was sent may have arrived: that is said as it is.
    const isUnknown = error instanceof ServiceError && error.code === 'kafka_outcome_unknown';
    throw limit.aborted && !signal.aborted && !isUnknown
      ? tooSlow(timeoutMs)
      : connectError(error, 'kafka_connection_failed');
  } finally {
    cluster.close();
  }
}

function tooSlow(timeoutMs: number): ServiceError {
  return new ServiceError('kafka_timeout', message('ports.db_timeout', { ms: timeoutMs }), {
    retryable: true,
  });
}
