import { createHash } from 'node:crypto';
import { type HostWait, once } from '@millrace/engine';
import { targetOf } from './allow-hosts.ts';
import type { HostLimits, HostPass } from './host-limits.ts';

/** What of a request decides on its turn. */
export interface TurnRequest {
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

/** The turns of one organisation's calls. */
export interface OrganisationTurns {
  /**
   * Waits until the request may be sent.
   * @throws HttpClientError `aborted`
   */
  enter(request: TurnRequest, signal: AbortSignal, wait: HostWait | undefined): Promise<HostPass>;
}

/** Without it, calls with keys that are named differently would only be told apart by their path. */
const CREDENTIAL = /^(authorization|cookie|x-auth.*|.*(api|access|private|auth)[-_]?(key|token).*)$/;

export function createTurns(limits: HostLimits, organisationId: number): OrganisationTurns {
  return {
    enter(request, signal, wait) {
      const { host, port } = targetOf(request.url);
      return limits.enter(
        { organisationId, host: `${host}:${port}`, quota: once(() => quotaOf(request)), wait },
        signal,
      );
    },
  };
}

/** Hosts count calls by credentials; those of webhooks are in the path. Hashed, as it is kept for longer than the call. */
function quotaOf({ url, headers }: TurnRequest): string {
  const credentials = [...headers].filter(([name]) => CREDENTIAL.test(name));
  const about =
    credentials.length === 0
      ? url.pathname
      : JSON.stringify(credentials.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(about).digest('base64url');
}
