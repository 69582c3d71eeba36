import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { type GuardedSockets, tlsIdentity } from '@millrace/egress/guarded-socket';
import type { CredentialOf } from '@millrace/engine';

/** PostgreSQL, "Message Formats": SSLRequest and CancelRequest. */
const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;
const LIMIT_MS = 4_000;

/**
 * Asks the server to cancel what a connection is running, over a separate connection, encrypted if the first one is. The
 * server doesn't respond; the cancelled statement does.
 */
export async function cancelPostgresql(
  sockets: GuardedSockets,
  { host, port, tls }: CredentialOf<'sql'>,
  client: object,
): Promise<void> {
  // The driver gets them from the server's BackendKeyData but doesn't declare them.
  const { processID, secretKey } = client as { processID: number | null; secretKey: number | null };
  if (processID === null || secretKey === null) return;
  const signal = AbortSignal.timeout(LIMIT_MS);
  const socket = await sockets.connect({ host, port }, signal);
  socket.on('error', () => undefined);
  try {
    const stream = tls === 'off' ? socket : await encrypt();
    stream.end(message(CANCEL_REQUEST, processID, secretKey));
    await once(stream, 'close', { signal });
  } finally {
    socket.destroy();
  }

  async function encrypt() {
    socket.write(message(SSL_REQUEST));
    const [answer] = await once(socket, 'data', { signal });
    if (String(answer) !== 'S') throw new Error('the server does not encrypt');
    const secure = connectTls({ socket, ...tlsIdentity(host), rejectUnauthorized: tls === 'verify' });
    secure.on('error', () => undefined);
    await once(secure, 'secureConnect', { signal });
    return secure;
  }
}

function message(code: number, ...numbers: readonly number[]): Buffer {
  const buffer = Buffer.alloc(8 + 4 * numbers.length);
  buffer.writeInt32BE(buffer.length, 0);
  buffer.writeInt32BE(code, 4);
  for (const [index, number] of numbers.entries()) buffer.writeInt32BE(number, 8 + 4 * index);
  return buffer;
}
