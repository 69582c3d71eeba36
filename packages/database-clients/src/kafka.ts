import type { GuardedSockets } from '@millrace/egress/guarded-socket';
import type { CredentialOf, KafkaOrder, KafkaService } from '@millrace/engine';
import { ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { connectError } from '@millrace/ports/connect-error';
import { createSessions, type SessionCaller, type SessionDeps } from './sessions.ts';

/** Sends messages to Kafka over guarded sockets. Each order has its own connections, closed afterwards. */
export function createKafkaService(deps: SessionDeps): (caller: SessionCaller) => KafkaService {
  const inSession = createSessions(deps);
  return (caller) => ({
    send: (credential, order, signal) => {
      const target = { place: [credential.brokers, credential.username], password: credential.password };
      return inSession(caller, target, signal, (sockets) => send(sockets, credential, order, signal));
    },
  });
}

async function send(
  sockets: GuardedSockets,
  credential: CredentialOf<'kafka'>,
  { topic, messages, timeoutMs }: KafkaOrder,
  signal: AbortSignal,
): ReturnType<KafkaService['send']> {
  // Loaded at first use, because it takes memory.
  const [{ KafkaCluster }, { sendMessages }] = await Promise.all([
    import('@millrace/kafka/cluster'),
    import('@millrace/kafka/producer'),
  ]);
  const limit = AbortSignal.timeout(timeoutMs);
  const until = AbortSignal.any([signal, limit]);
  const cluster = await KafkaCluster.open({ sockets, credential, signal: until }).catch((error: unknown) => {
    throw limit.aborted && !signal.aborted
      ? tooSlow(timeoutMs)
      : connectError(error, 'kafka_connection_failed');
  });
  const stop = (): void => cluster.close();
  until.addEventListener('abort', stop, { once: true });
  try {
    const records = messages.map(({ key, value, headers, partition }) => ({
      key: key === null ? null : Buffer.from(key),
      value: value === null ? null : Buffer.from(value),
      headers: Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)] as const),
      partition,
    }));
    return await sendMessages(cluster, topic, records, {
      timeoutMs,
      nowMs: Date.now(),
      choice: Math.random(),
    });
  } catch (error) {
    // What was sent may have arrived: that is said as it is.
    const isUnknown = error instanceof ServiceError && error.code === 'kafka_outcome_unknown';
    throw limit.aborted && !signal.aborted && !isUnknown
      ? tooSlow(timeoutMs)
      : connectError(error, 'kafka_connection_failed');
  } finally {
    until.removeEventListener('abort', stop);
    cluster.close();
  }
}

function tooSlow(timeoutMs: number): ServiceError {
  return new ServiceError('kafka_timeout', message('ports.db_timeout', { ms: timeoutMs }), {
    retryable: true,
  });
}
