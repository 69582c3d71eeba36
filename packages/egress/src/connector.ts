import { lookup as dnsLookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { rootCertificates, type SecureContextOptions } from 'node:tls';
import type { ClientCertificate } from '@millrace/engine';
import type { buildConnector } from 'undici';
import { type Target, targetOf } from './allow-hosts.ts';
import type { TargetPolicy } from './target-policy.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

type Connector = buildConnector.connector;

/** The operating system's resolver. */
export const systemResolve: Resolve = (hostname) => dnsLookup(hostname, { all: true, order: 'verbatim' });

/**
 * Opens connections for one origin. A name is resolved once per connection and the socket connects only to the addresses that were checked,
 * so a DNS answer that changes in between has no effect; the peer is checked again once connected.
 */
export function createGuardedConnector(
  origin: URL,
  policy: TargetPolicy,
  options: {
    readonly resolve: Resolve;
    readonly connectTimeoutMs: number;
    /** Shown to the server. */
    readonly certificate?: ClientCertificate;
  },
  build: (options: buildConnector.BuildOptions) => Connector,
): Connector {
  const target = targetOf(origin);
  const lookup = createGuardedLookup(target, policy, options.resolve);
  const connect = build({
    lookup,
    timeout: options.connectTimeoutMs,
    allowH2: false,
    autoSelectFamily: true,
    ...tlsOptions(options.certificate),
  });
  return (connectOptions, callback) =>
    connect(connectOptions, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      const refused = policy.refuseAddress(target, socket.remoteAddress);
      if (refused === undefined) return callback(null, socket);
      socket.destroy();
      callback(refused, null);
    });
}

function tlsOptions(
  shown: ClientCertificate | undefined,
): Pick<SecureContextOptions, 'cert' | 'key' | 'passphrase' | 'ca'> {
  if (shown === undefined) return {};
  const { certificate, privateKey, passphrase, authority } = shown;
  return {
    cert: certificate,
    key: privateKey,
    ...(passphrase === null ? {} : { passphrase }),
    ...(authority === null ? {} : { ca: [...rootCertificates, authority] }),
  };
}

/** Resolves a target's name and refuses it when one of its addresses is refused, for any kind of socket. */
export function createGuardedLookup(target: Target, policy: TargetPolicy, resolve: Resolve): LookupFunction {
  return (hostname, { all }, callback) => {
    const report = (addresses: readonly ResolvedAddress[]): void => {
      const [first] = addresses;
      // One bad address refuses them all: a legitimate public name has none.
      const refusals = addresses.map(({ address }) => policy.refuseAddress(target, address));
      const refused = refusals.find((each) => each !== undefined);
      if (first === undefined) callback(notFound(hostname), []);
      else if (refused !== undefined) callback(refused, []);
      else if (all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    };
    resolve(hostname).then(report, (error: NodeJS.ErrnoException) => callback(error, []));
  };
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`no address for ${hostname}`), { code: 'ENOTFOUND' });
}
