import { statfs } from 'node:fs/promises';
import type { FileSettings } from '@millrace/files/settings';
import { message } from '@millrace/messages';
import type { Finding } from './finding.ts';

const GIGABYTE = 1e9;
/** Less than both of these is a warning. */
export const LITTLE_SPACE = { bytes: 5 * GIGABYTE, share: 0.1 };
const HARDLY_ANY_BYTES = GIGABYTE;
const REACH_TIMEOUT_MS = 5_000;

/** How the service is installed, as far as its settings say. */
export interface Installation {
  /** What the process listens on. */
  readonly host: string;
  readonly publicUrl: string;
  readonly publicUrlIsExplicit: boolean;
  readonly trustProxy: false | number | readonly string[];
  /** Folder of the embedded PostgreSQL; null: the database is elsewhere. */
  readonly dataDir: string | null;
  readonly files: Pick<FileSettings, 'folder' | 'freeDiskBytes' | 's3'>;
  /** Connections to the database that one process may open. */
  readonly connectionsPerProcess: number;
}

/** Whether only this machine can reach an address. */
function isLocal(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || host.startsWith('127.');
}

/** Combinations of settings that are allowed, but seldom meant. */
export function settingsFindings({
  host,
  publicUrl,
  publicUrlIsExplicit,
  trustProxy,
}: Installation): Finding[] {
  const findings: Finding[] = [];
  if (typeof trustProxy === 'number' && !isLocal(host)) {
    findings.push({
      check: 'settings',
      level: 'warning',
      what: message('doctor.proxy_count', { host, count: trustProxy }),
      why: message('doctor.proxy_count_why'),
      fix: message('doctor.proxy_count_fix'),
    });
  }
  const { protocol, hostname } = new URL(publicUrl);
  if (isLocal(hostname)) {
    findings.push({
      check: 'settings',
      level: 'info',
      what: message('doctor.public_url_local', { url: publicUrl }),
      why: message('doctor.public_url_local_why'),
      fix: publicUrlIsExplicit
        ? message('doctor.public_url_change_fix')
        : message('doctor.public_url_set_fix'),
    });
  } else if (protocol === 'http:') {
    findings.push({
      check: 'settings',
      level: 'warning',
      what: message('doctor.public_url_http', { url: publicUrl }),
      why: message('doctor.public_url_http_why'),
      fix: message('doctor.public_url_http_fix'),
    });
  }
  return findings;
}

/** Room on the disk of the embedded PostgreSQL. */
export async function diskFindings(
  dataDir: string,
  readSpace: (path: string) => Promise<Space> = spaceOf,
): Promise<Finding[]> {
  const { free, total } = await readSpace(dataDir);
  if (free > LITTLE_SPACE.bytes || free > total * LITTLE_SPACE.share) return [];
  return [
    {
      check: 'disk',
      level: free < HARDLY_ANY_BYTES ? 'error' : 'warning',
      what: message('doctor.disk_full', { path: dataDir, gigabytes: inGigabytes(free) }),
      why: message('doctor.disk_full_why'),
      fix: message('doctor.disk_full_fix'),
    },
  ];
}

/** Of a disk, in bytes. */
export interface Space {
  readonly free: number;
  readonly total: number;
}

/** Of the disk that a path lies on. */
export async function spaceOf(path: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(path);
  return { free: bavail * bsize, total: blocks * bsize };
}

/** With one decimal. */
export function inGigabytes(bytes: number): number {
  return Math.round(bytes / (GIGABYTE / 10)) / 10;
}

/** Whether the service responds at the address that it tells clients. */
export async function reachFindings(publicUrl: string, timeoutMs = REACH_TIMEOUT_MS): Promise<Finding[]> {
  const url = `${publicUrl}/healthz`;
  const found = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) }).then(
    async (response) => {
      const text = await response.text();
      return response.status === 200 && text.includes('"alive"')
        ? null
        : message('doctor.unreachable_status', { url, status: response.status });
    },
    () => message('doctor.unreachable', { url }),
  );
  if (found === null) return [];
  return [
    {
      check: 'public_url',
      level: 'warning',
      what: found,
      why: message('doctor.unreachable_why'),
      fix: message('doctor.unreachable_fix'),
    },
  ];
}
