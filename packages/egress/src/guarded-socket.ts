import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { HttpClientError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { parseAllowHosts, type Target, targetOf } from './allow-hosts.ts';
import { toClientError } from './client-errors.ts';
import { createGuardedLookup, type Resolve, systemResolve } from './connector.ts';
import { createTargetPolicy, type TargetPolicy } from './target-policy.ts';

/** Where a socket leads. */
export interface SocketTarget {
  /** A name or an IP address, in any spelling that a URL may have; IPv6 with or without brackets. */
  readonly host: string;
  readonly port: number;
  /** Encrypted from the first byte. Its name is the host; `isVerified` false takes any certificate. */
  readonly tls?: { readonly isVerified: boolean };
}

/** Connections for what does not speak HTTP, under the same rules as the guarded HTTP client. */
export interface GuardedSockets {
  /**
   * Opens a connection; it is the caller's from then on, its errors too.
   * @throws HttpClientError `invalid_url`, `target_not_allowed`, `timeout`, `connection_failed`, `aborted`
   */
  connect(target: SocketTarget, signal: AbortSignal): Promise<Socket>;
}

export interface GuardedSocketOptions {
  /** Entries of MILLRACE_ALLOW_HOSTS. */
  readonly allowHosts: readonly string[];
  /** For name, connection and TLS together. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Default: the operating system's resolver. */
  readonly resolve?: Resolve;
}

/**
 * Makes sockets that refuse private and internal targets, whatever way they are written or resolved. A name is resolved
 * once for each connection, the socket connects to just those addresses that were checked, and its peer is checked again.
 * @throws Error when an entry of `allowHosts` cannot be read
 */
export function createGuardedSockets(
  options: GuardedSocketOptions,
  open: typeof connectTcp = connectTcp,
): GuardedSockets {
  const { connectTimeoutMs = 10_000, resolve = systemResolve } = options;
  const { rules, problems } = parseAllowHosts(options.allowHosts);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const policy = createTargetPolicy(rules);
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

/** What TLS on top of a connection to a target needs, so that certificates are checked for that host and no other. */
export function tlsIdentity(host: string): { readonly host: string; readonly servername?: string } {
  // RFC 6066: addresses are no server names; Node then checks the certificate's addresses against `host`.
  return isIP(host) === 0 ? { host, servername: host } : { host };
}

/** Reads host and port and refuses what can be refused without a look-up. */
function checkTarget({ host, port }: SocketTarget, policy: TargetPolicy): Target {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  const url = URL.parse(`http://${name}:${port}/`);
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
  { isVerified }: NonNullable<SocketTarget['tls']>,
  signal: AbortSignal,
): Promise<Socket> {
  const secure = connectTls({ socket, ...tlsIdentity(host), rejectUnauthorized: isVerified });
  return connected(secure, 'secureConnect', signal);
}

/** The socket once the event came; destroyed when it did not. */
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
      // What comes after the first error has nobody to be told to.
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
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
