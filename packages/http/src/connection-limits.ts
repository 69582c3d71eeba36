import { readFileSync } from 'node:fs';
import { BlockList, isIPv6, type Socket } from 'node:net';
import type { Meters } from '@millrace/runtime/meters/meters';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { sourceOf } from './rate-limit.ts';
import type { HttpSettings } from './settings.ts';

/** More connections than this are allowed only if configured. */
const USUAL_TOTAL = 10_000;
/** For everything else the process opens: the database, outgoing calls, threads, files. */
const RESERVED_SHARE = 0.25;
const LOG_PAUSE_MS = 60_000;

export interface ConnectionLimits {
  readonly total: number;
  /** Per address; per /64 for IPv6. */
  readonly perAddress: number;
}

/**
 * The effective limits: those configured, capped so that the process doesn't run out of file descriptors.
 * @param openFiles the limit of open files of this process
 */
export function connectionLimits(
  { connections, connectionsPerAddress }: HttpSettings['limits'],
  openFiles: number,
): ConnectionLimits {
  const usual = Math.min(USUAL_TOTAL, Math.floor(openFiles / 2));
  const total = Math.min(connections ?? usual, Math.floor(openFiles * (1 - RESERVED_SHARE)));
  return { total, perAddress: connectionsPerAddress ?? Math.max(1, Math.floor(total / 2)) };
}

/** The limit of open files of this process (`ulimit -n`). */
export function readOpenFileLimit(): number {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return soft === undefined || soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft);
}

/**
 * Closes connections beyond the limits as soon as they are made: a process without a free file descriptor can neither reach its database
 * nor accept connections. Those of trusted proxies only count towards the total, because many clients share their address.
 */
export function limitConnections(
  app: FastifyInstance,
  { limits, trustProxy }: Pick<HttpSettings, 'limits' | 'trustProxy'>,
  log: Logger,
  meters?: Pick<Meters, 'refusedConnections'>,
): void {
  const openFiles = readOpenFileLimit();
  const { total, perAddress } = connectionLimits(limits, openFiles);
  if (limits.connections !== null && total < limits.connections) {
    log.warn(
      { wanted: limits.connections, allowed: total, open_files: openFiles },
      'MILLRACE_MAX_CONNECTIONS exceeds what the limit of open files allows; raise that limit with ulimit -n or LimitNOFILE=',
    );
  }
  const logRefusal = createRefusalLog(log);
  const refuse = (what: { readonly limit: number; readonly ip?: string }): void => {
    if (meters !== undefined) meters.refusedConnections += 1;
    logRefusal(what);
  };
  const open = new Map<string, number>();
  const isProxy = createProxyCheck(trustProxy);
  app.server.maxConnections = total;
  app.server.on('drop', () => refuse({ limit: total }));
  app.server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (perAddress === 0 || remoteAddress === undefined || isProxy(remoteAddress)) return;
    const source = sourceOf(remoteAddress);
    const count = (open.get(source) ?? 0) + 1;
    open.set(source, count);
    socket.once('close', () => {
      const left = (open.get(source) ?? 1) - 1;
      if (left === 0) open.delete(source);
      else open.set(source, left);
    });
    if (count <= perAddress) return;
    socket.destroy();
    refuse({ limit: perAddress, ip: remoteAddress });
  });
}

/** Logs the first refused connection, and then once a minute how many there were. */
function createRefusalLog(log: Logger): (what: { readonly limit: number; readonly ip?: string }) => void {
  let refused = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (what) => {
    refused += 1;
    if (performance.now() - loggedAt < LOG_PAUSE_MS) return;
    log.warn({ ...what, refused }, 'connections refused: too many are open');
    loggedAt = performance.now();
    refused = 0;
  };
}

/** A number of proxies names none of them, so every peer counts as one. */
function createProxyCheck(trustProxy: HttpSettings['trustProxy']): (address: string) => boolean {
  if (!Array.isArray(trustProxy)) return () => trustProxy !== false;
  const proxies = new BlockList();
  for (const item of trustProxy) {
    const [address = '', bits] = item.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
    return proxies.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  };
}
