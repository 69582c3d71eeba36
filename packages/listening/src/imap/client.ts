import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { cutOnAbort } from '@millrace/egress/cut-on-abort';
import { type GuardedSockets, tlsIdentity } from '@millrace/egress/guarded-socket';
import { type CredentialOf, HttpClientError, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { connectError } from '@millrace/ports/connect-error';
import { ImapFlow } from 'imapflow';

const MIB = 1024 * 1024;
/** Largest mail that is read; of a larger one, only the header is. */
export const MAX_MAIL_BYTES = 25 * MIB;
/** How long a server may be silent while it owes an answer. */
const SILENCE_MS = 60_000;
/** IDLE is begun anew after this: servers and firewalls give up connections that are silent for longer. */
const IDLE_MS = 240_000;

/** Who signs in, and by what. */
export type ImapLogin = Omit<CredentialOf<'imap'>, 'type' | 'password'> &
  ({ readonly password: string } | { readonly accessToken: string });

/**
 * Connects to the login's server over a guarded socket, encrypted as configured, and signs in: with a password, or with a token (XOAUTH2, or
 * OAUTHBEARER where the server has it).
 * @throws ServiceError imap_*
 */
export async function openImap(
  sockets: GuardedSockets,
  login: ImapLogin,
  signal: AbortSignal,
): Promise<ImapFlow> {
  const { host, port, security, username } = login;
  const tls = security === 'tls' ? { tls: { isVerified: true } } : {};
  const socket = await sockets.connect({ host, port, ...tls }, signal).catch((error: unknown) => {
    throw connectError(error, 'imap_connection_failed');
  });
  const client = new ImapFlow({
    ...{ host, port, secure: security === 'tls', doSTARTTLS: security === 'starttls' },
    auth: {
      user: username,
      ...('password' in login ? { pass: login.password } : { accessToken: login.accessToken }),
    },
    transport: transportOf(socket, host),
    ...{ logger: false, disableAutoIdle: true, maxIdleTime: IDLE_MS, disableCompression: true },
    ...{ greetingTimeout: SILENCE_MS / 4, socketTimeout: SILENCE_MS + IDLE_MS },
    // A server that announces more than was asked for must not fill the memory.
    ...{
      maxLiteralSize: MAX_MAIL_BYTES + MIB,
      maxResponseSize: MAX_MAIL_BYTES + 2 * MIB,
      maxLineLength: 4 * MIB,
    },
    ...{ maxResponseTokens: 200_000, clientInfo: { name: 'millrace' } },
  });
  // Whatever waits for the connection is told of its end; without a listener this event would end the process.
  client.on('error', () => undefined);
  try {
    await cutOnAbort(
      signal,
      () => socket.destroy(),
      () => client.connect(),
    );
    return client;
  } catch (error) {
    client.close();
    socket.destroy();
    throw toImapError(error, login);
  }
}

/** Hands the library a socket that is already connected to a permitted address; it opens none itself. */
function transportOf(socket: Socket, host: string) {
  return {
    connect(_options: unknown, onConnect: () => void): Socket {
      setImmediate(onConnect);
      return socket;
    },
    upgrade(plain: unknown, _options: unknown, onSecure: () => void): Socket {
      return connectTls(
        { socket: plain as Socket, ...tlsIdentity(host), rejectUnauthorized: true },
        onSecure,
      );
    },
  };
}

/** Any error of the library as one that a workflow's author can read. After a rejected login the server's words are left out. */
export function toImapError(
  error: unknown,
  login: Pick<ImapLogin, 'host' | 'port'> & { readonly accessToken?: string },
): Error {
  if (error instanceof ServiceError) return error;
  const where = `${login.host}:${login.port}`;
  if (error instanceof HttpClientError) return connectError(error, 'imap_connection_failed');
  if (isAuthenticationFailure(error)) {
    const isByToken = login.accessToken !== undefined;
    const said = message(isByToken ? 'ports.token_sign_in_refused' : 'ports.sign_in_refused', {
      host: where,
    });
    return new ServiceError('imap_auth_failed', said);
  }
  if (!(error instanceof Error)) return new Error('reading mails failed', { cause: error });
  const fault = error as Error & {
    readonly code?: string;
    readonly responseText?: string;
    readonly tlsFailed?: boolean;
  };
  const reason = (fault.responseText ?? fault.message).split('\n')[0]?.slice(0, 200) ?? '';
  if (fault.tlsFailed === true || /starttls/i.test(fault.message)) {
    return new ServiceError('imap_tls_failed', message('ports.tls_failed', { host: where, reason }));
  }
  const explanation = message('ports.connection_failed', { host: where, reason });
  return new ServiceError('imap_connection_failed', explanation, { retryable: true, cause: error });
}

function isAuthenticationFailure(error: unknown): boolean {
  return error instanceof Error && 'authenticationFailed' in error && error.authenticationFailed === true;
}
