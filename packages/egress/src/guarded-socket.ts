import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type HostWait, HttpClientError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { bracketed, type Target, targetOf } from './allow-hosts.ts';
import { toClientError } from './client-errors.ts';
import { createGuardedLookup, type Resolve, systemResolve } from './connector.ts';
import { createTargetPolicy, type TargetPolicy } from './target-policy.ts';

/** What a socket connects to. */
export interface SocketTarget {
  /** A name or an IP address, in any form that is valid in a URL; IPv6 with or without brackets. */
  readonly host: string;
  readonly port: number;
  /** Encrypted from the first byte, with the host as server name; with `isVerified` false any certificate is accepted. */
  readonly tls?: TlsTarget;
}

interface TlsTarget {
  readonly isVerified: boolean;
  /** Shown if the other side asks for one; PEM. */
  readonly identity?: {
    readonly certificate: string;
    readonly privateKey: string;
    readonly passphrase: string | null;
  };
  /** Whose certificates are accepted instead of publicly known authorities'; PEM. */
  readonly authority?: string;
}

/** The server that a credential names, by TLS if the credential says so. */
export function serverOf({
  host,
  port,
  tls,
}: Pick<SocketTarget, 'host' | 'port'> & { readonly tls: 'off' | 'require' | 'verify' }): SocketTarget {
  return { host, port, ...(tls === 'off' ? {} : { tls: { isVerified: tls === 'verify' } }) };
}

/** Connections for protocols other than HTTP, under the same rules as the guarded HTTP client. */
export interface GuardedSockets {
  /**
   * Opens a connection. From then on it and its errors are the caller's responsibility.
   * @param wait of an organisation's connection: it counts as a call to its host from now until it is closed. Absent: it isn't counted
   * @throws HttpClientError `invalid_url`, `target_not_allowed`, `timeout`, `connection_failed`, `aborted`
   */
  connect(target: SocketTarget, signal: AbortSignal, wait?: HostWait): Promise<Socket>;
}

export interface GuardedSocketOptions {
  /** Entries of MILLRACE_ALLOW_HOSTS. */
  readonly allowHosts: readonly string[];
  /** For resolving, connecting and TLS together. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Default: the operating system's resolver. */
  readonly resolve?: Resolve;
}

/**
 * Creates sockets that refuse private and internal targets, however they are written or resolved. A name is resolved once per connection,
 * the socket connects only to the addresses that were checked, and its peer is checked again.
 * @throws Error when an entry of `allowHosts` can't be parsed
 */
export function createGuardedSockets(
  options: GuardedSocketOptions,
  open: typeof connectTcp = connectTcp,
): GuardedSockets {
  const { connectTimeoutMs = 10_000, resolve = systemResolve } = options;
  const policy = createTargetPolicy(options.allowHosts);
  return {
    async connect(wanted, signal) {
      const target = checkTarget(wanted, policy);
      if (signal.aborted) throw abortedError();
      const deadline = AbortSignal.timeout(connectTimeoutMs);
      const until = AbortSignal.any([signal, deadline]);
      try {
        const lookup = createGuardedLookup(target, policy, resolve);
        const socket = await connected(open({ ...target, lookup, autoSelectFamily: true }), 'connect', until);
        const refused = policy.refuseAddress(target, socket.remoteAddress);
        if (refused !== undefined) {
          socket.destroy();
          throw refused;
        }
        return wanted.tls === undefined ? socket : await encrypted(socket, target, wanted.tls, until);
      } catch (error) {
        if (signal.aborted) throw abortedError();
        if (deadline.aborted) throw timeoutError(target, connectTimeoutMs);
        throw toClientError(error, nameOf(target));
      }
    },
  };
}

/** TLS options for a connection to a target, so that certificates are checked for that host only. */
export function tlsIdentity(host: string): { readonly host: string; readonly servername?: string } {
  // RFC 6066: addresses aren't valid server names; Node then checks the certificate's addresses against `host`.
  return isIP(host) === 0 ? { host, servername: host } : { host };
}

/** Parses host and port and refuses what can be refused without a lookup. */
function checkTarget({ host, port }: SocketTarget, policy: TargetPolicy): Target {
  const url = URL.parse(`http://${bracketed(host)}:${port}/`);
  const isBare =
    url !== null &&
    url.username === '' &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    !/[\s/\\@?#]/.test(host);
  if (!isBare || !Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new HttpClientError('invalid_url', message('egress.invalid_target'));
  }
  const target = targetOf(policy.checkUrl(url));
  if (target.host === '') throw new HttpClientError('invalid_url', message('egress.empty_host'));
  return target;
}

function encrypted(
  socket: Socket,
  { host }: Target,
  { isVerified, identity, authority }: TlsTarget,
  signal: AbortSignal,
): Promise<Socket> {
  const shown =
    identity === undefined
      ? {}
      : {
          cert: identity.certificate,
          key: identity.privateKey,
          ...(identity.passphrase === null ? {} : { passphrase: identity.passphrase }),
        };
  const accepted = authority === undefined ? {} : { ca: authority };
  const options = { socket, ...tlsIdentity(host), rejectUnauthorized: isVerified, ...shown, ...accepted };
  try {
    return connected(connectTls(options), 'secureConnect', signal);
  } catch (error) {
    // A certificate or key that can't be read.
    socket.destroy();
    throw error;
  }
}

/** Resolves with the socket once the event fires; destroys it when it doesn't. */
function connected<Kind extends Socket>(
  socket: Kind,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<Kind> {
  return new Promise((resolve, reject) => {
    const settle = (error: unknown): void => {
      socket.off(event, onReady).off('error', settle).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) {
        resolve(socket);
        return;
      }
      // Errors after the first have nobody to report to.
      socket.on('error', () => undefined).destroy();
      reject(error instanceof Error ? error : new Error('the connection failed', { cause: error }));
    };
    const onReady = (): void => settle(undefined);
    const onClose = (): void => settle(new Error('the connection was closed'));
    const onAbort = (): void => settle(signal.reason);
    socket.once(event, onReady).once('error', settle).once('close', onClose);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

function abortedError(): HttpClientError {
  return new HttpClientError('aborted', message('egress.connection_aborted'));
}

function timeoutError(target: Target, timeoutMs: number): HttpClientError {
  return new HttpClientError(
    'timeout',
    message('egress.connect_timeout_ms', { host: nameOf(target), ms: timeoutMs }),
  );
}

function nameOf({ host, port }: Target): string {
  return `${bracketed(host)}:${port}`;
}
