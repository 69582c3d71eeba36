import { HttpClientError, type HttpRequest } from '@millrace/engine';
import { authHeader } from '@millrace/nodes';
import { type Attempt, failed, inconclusive, shownUrl, type TestResult, works } from './result.ts';

const MOST_BYTES = 64 * 1024;

type HttpAttempt = Pick<Attempt<'bearer' | 'basic' | 'header'>, 'egress' | 'organisationId' | 'signal'>;

/** Requests a page with the credential and, if that succeeds, without it: a page open to everyone proves nothing. */
export async function testHttp(
  { credential, ...attempt }: Attempt<'bearer' | 'basic' | 'header'>,
  url: string,
): Promise<TestResult> {
  const where = shownUrl(url);
  const [name, value] = authHeader(credential);
  const status = await statusOf(attempt, url, { [name]: value });
  if (status === 'redirect') return inconclusive('redirected', where);
  if (status === 401) return failed('refused', where, null, status);
  if (status === 403) return failed('forbidden', where, null, status);
  if (!isGood(status)) return inconclusive('other_status', where, status);
  return compare(where, status, () => statusOf(attempt, url, {}));
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

/** Only the status matters, so the rest of the response isn't read. */
async function statusOf(
  { egress, organisationId, signal }: HttpAttempt,
  url: string,
  headers: NonNullable<HttpRequest['headers']>,
): Promise<number | 'redirect'> {
  try {
    const init = { method: 'GET', headers: { accept: '*/*', ...headers }, signal };
    const response = await egress.fetch(organisationId).fetch(url, init, MOST_BYTES);
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    if (error instanceof HttpClientError && error.code === 'too_many_redirects') return 'redirect';
    throw error;
  }
}
