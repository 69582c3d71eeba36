import { verbatim } from '@millrace/messages';
import { type ChatProbe, chatProbe } from '@millrace/nodes';
import { type Attempt, failed, inconclusive, type TestResult, works } from './result.ts';

const MAX_BYTES = 1024 * 1024;

/** Calls the credential's service; if it only accepts messages, just checks that the server is reachable. */
export async function testChat(attempt: Attempt<'chat'>): Promise<TestResult> {
  const probe = chatProbe(attempt.credential);
  if (probe.kind === 'ask') return ask(attempt, probe);
  const { hostname, port, protocol } = new URL(probe.url);
  const isSecure = protocol === 'https:';
  const target = { host: hostname, port: port === '' ? (isSecure ? 443 : 80) : Number(port) };
  const socket = await attempt.egress
    .sockets(attempt.organisationId)
    .connect(isSecure ? { ...target, tls: { isVerified: true } } : target, attempt.signal);
  socket.destroy();
  return inconclusive('reached', probe.shownUrl);
}

async function ask(
  { egress, organisationId, signal }: Attempt<'chat'>,
  { method, url, headers, shownUrl: where, read, mayBeForbidden }: Extract<ChatProbe, { kind: 'ask' }>,
): Promise<TestResult> {
  const response = await egress
    .http(organisationId)
    .send({ method, url, headers, timeoutMs: 60_000, maxRedirects: 0, maxResponseBytes: MAX_BYTES }, signal);
  const { status } = response;
  if (status === 403 && mayBeForbidden) return inconclusive('other_status', where, status);
  const outcome = read(response, Date.now());
  return outcome.kind === 'sent'
    ? works('accepted', where, status)
    : failed(outcome.code, where, verbatim(outcome.reason.slice(0, 500)), status);
}
