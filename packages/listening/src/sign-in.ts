import type { GuardedFetch } from '@millrace/egress/guarded-fetch';
import type { GuardedSockets } from '@millrace/egress/guarded-socket';
import type { CredentialOf } from '@millrace/engine';

/** For a client that stays for a moment only: it must not take over the session of a workflow. */
const TEST_CLIENT = 'millrace-test';

/**
 * Connects to the credential's server, signs in and closes the connection.
 * @throws ServiceError
 */
export async function signIn(
  { sockets, fetch }: { readonly sockets: GuardedSockets; readonly fetch: Pick<GuardedFetch, 'fetch'> },
  credential: CredentialOf<'imap' | 'redis' | 'mqtt' | 'kafka'>,
  signal: AbortSignal,
): Promise<void> {
  switch (credential.type) {
    case 'imap': {
      const { openImap } = await import('./imap/client.ts');
      const client = await openImap(sockets, credential, signal);
      await client.logout().catch(() => undefined);
      return;
    }
    case 'redis': {
      const { RedisClient } = await import('./redis/client.ts');
      const client = await RedisClient.open(sockets, credential, signal);
      await client.call('PING').finally(() => client.close());
      return;
    }
    case 'mqtt': {
      const { MqttClient } = await import('./mqtt/client.ts');
      const client = await MqttClient.open(sockets, credential, TEST_CLIENT, signal);
      client.close();
      return;
    }
    case 'kafka': {
      const { KafkaCluster } = await import('@millrace/kafka/cluster');
      const cluster = await KafkaCluster.open({ sockets, fetch, credential, signal });
      // Brokers that want a sign-in say so only now.
      await cluster.leaders([]).finally(() => cluster.close());
    }
  }
}
