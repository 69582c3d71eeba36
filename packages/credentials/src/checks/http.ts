import type { Egress } from '@millrace/egress/egress';
import {
  type AuthenticatedRequest,
  type HttpClient,
  HttpClientError,
  type HttpRequest,
} from '@millrace/engine';
import { type Attempt, failed, inconclusive, shownUrl, type TestResult, works } from './result.ts';

const MAX_BYTES = 64 * 1024;

type HttpAttempt = Pick<Attempt<never>, 'egress' | 'organisationId' | 'signal'>;
type Authenticate = (request: HttpRequest) => Promise<AuthenticatedRequest>;

/** Requests a page with the credential and, if that succeeds, without it: a page open to everyone proves nothing. */
export async function testHttp(
  authenticate: Authenticate,
  attempt: HttpAttempt,
  url: string,
): Promise<TestResult> {
  const where = shownUrl(url);
  const request: HttpRequest = {
    method: 'GET',
    url,
    headers: { accept: '*/*' },
    ...{ timeoutMs: 60_000, maxRedirects: 0, maxResponseBytes: MAX_BYTES },
  };
  const authenticated = await authenticate(request);
  const status = await statusOf(() => authenticated.send(attempt.signal));
  if (status === 'redirect') return inconclusive('redirected', where);
  if (status === 401) return failed('refused', where, null, status);
  if (status === 403) return failed('forbidden', where, null, status);
  if (!isGood(status)) return inconclusive('other_status', where, status);
  const plain = statusClient(attempt.egress, attempt.organisationId);
  return compare(where, status, () => statusOf(() => plain.send(request, attempt.signal)));
}

/** What a success proves, given the response to the same request without the credential. */
export async function compare(
  where: string,
  status: number,
  askWithout: () => Promise<number | 'redirect'>,
): Promise<TestResult> {
  const without = await askWithout().catch((error: unknown) => {
    if (error instanceof HttpClientError) return null;
    throw error;
  });
  if (without !== null && without !== 'redirect' && isGood(without))
    return inconclusive('open_to_all', where, status);
  const isRefused = without === 'redirect' || (without !== null && REFUSALS.includes(without));
  return isRefused ? works('accepted', where, status) : inconclusive('other_status', where, status);
}

/** Some hide what exists from clients that aren't signed in. */
const REFUSALS = [400, 401, 403, 404];

export function isGood(status: number): boolean {
  return status >= 200 && status < 300;
}

async function statusOf(send: () => Promise<{ readonly status: number }>): Promise<number | 'redirect'> {
  try {
    return (await send()).status;
  } catch (error) {
    if (error instanceof HttpClientError && error.code === 'too_many_redirects') return 'redirect';
    throw error;
  }
}

/** A client for which only status and headers matter: the rest of the response isn't read. */
export function statusClient(egress: Pick<Egress, 'fetch' | 'http'>, organisationId: number): HttpClient {
  return {
    async send(request, signal) {
      // Only this client shows certificates; it reads the response.
      if (request.clientCertificate !== undefined) return egress.http(organisationId).send(request, signal);
      const { method, url, headers = {} } = request;
      const init = { method, headers, signal };
      const response = await egress.fetch(organisationId).fetch(url, init, request.maxResponseBytes);
      await response.body?.cancel();
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: new Uint8Array(),
      };
    },
  };
}
