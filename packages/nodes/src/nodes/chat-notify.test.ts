import { type ChatServiceName, HttpClientError, type JsonObject } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { describe, expect, it } from 'vitest';
import { notify, RICH } from '../chat/test-service.ts';

/** Realistic access to each service, with a channel to write to. */
const WAYS: readonly (readonly [
  ChatServiceName,
  JsonObject & { webhook_url?: string; token?: string },
  string,
])[] = [
  ['slack', { webhook_url: '/services/T0/B0/canarycanary' }, ''],
  ['slack', { token: 'xoxb-canarycanary' }, 'C0123456789'],
  ['teams', { webhook_url: '/workflows/canarycanary/triggers/manual/paths/invoke?sig=canarycanary' }, ''],
  ['discord', { webhook_url: '/api/webhooks/123456789012345678/canarycanary' }, ''],
  ['discord', { token: 'canarycanary.x.y' }, '123456789012345678'],
  ['google_chat', { webhook_url: '/v1/spaces/AAA/messages?key=canarycanary&token=canarycanary' }, ''],
  ['google_chat', { token: 'ya29.canarycanary' }, 'spaces/AAA'],
  ['mattermost', { webhook_url: '/hooks/canarycanary' }, ''],
  ['mattermost', { token: 'canarycanary' }, 'ch4nn3l'],
  ['telegram', { token: '123:canarycanary' }, '-1001234'],
  ['line', { token: 'canarycanary' }, `U${'0'.repeat(32)}`],
  ['chatwork', { token: 'canarycanary' }, '4711'],
];

describe.each(WAYS)('chat.notify to %s by %j', (service, access, channel) => {
  it('sends one POST and follows no redirect', async () => {
    const { result, received } = await notify(
      service,
      access,
      { text: 'Hello', channel },
      { answer: { status: 302, headers: { location: '/elsewhere' } } },
    );
    expect(received).toHaveLength(1);
    expect(received[0]?.method).toBe('POST');
    expect(result).toMatchObject({ kind: 'failure', code: 'chat_refused', retryable: false });
  });

  it('in test mode shows the request and sends nothing', async () => {
    const { result, received } = await notify(service, access, { ...RICH, channel }, { isTestMode: true });
    expect(received).toEqual([]);
    expect(result).toMatchObject({
      kind: 'success',
      output: { dry_run: true, service, request: { method: 'POST', url: expect.stringContaining('http') } },
    });
    expect(JSON.stringify(result)).toContain('Title');
    expect(JSON.stringify(result)).not.toContain('canary');
  });

  it.each([
    [429, 'chat_rate_limited', true],
    [500, 'chat_unavailable', true],
    [503, 'chat_unavailable', true],
    [400, 'chat_refused', false],
    [401, 'chat_auth_failed', false],
    [403, 'chat_auth_failed', false],
  ])('%i is %s', async (status, code, retryable) => {
    const secrets = JSON.stringify(Object.values(access));
    const { result } = await notify(
      service,
      access,
      { text: 'Hello', channel },
      {
        answer: {
          status,
          headers: { 'retry-after': '7' },
          body: `{"ok":false,"message":${JSON.stringify(secrets)}}`,
        },
      },
    );
    expect(result).toMatchObject({ kind: 'failure', code, retryable, output: { service, status } });
    if (retryable) expect(result).toMatchObject({ retryAfterMs: 7_000 });
    // The service echoed what it was sent; the node doesn't.
    expect(JSON.stringify(result)).not.toContain('canarycanary');
  });

  it('reports a failed connection without the URL', async () => {
    const http = () =>
      Promise.reject(new HttpClientError('connection_failed', verbatim('the host: refused')));
    const { result } = await notify(service, access, { text: 'Hello', channel }, { http });
    expect(result).toMatchObject({ kind: 'failure', code: 'connection_failed', retryable: true });
  });

  it('requires something to send', async () => {
    const { result, received } = await notify(service, access, { text: ' ', channel });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
    expect(received).toEqual([]);
  });

  it("doesn't cut a text that is too long", async () => {
    const { result, received } = await notify(service, access, { text: 'x'.repeat(100_000), channel });
    expect(result).toMatchObject({ kind: 'failure', code: 'message_too_long', retryable: false });
    expect(received).toEqual([]);
  });

  it('requires its webhook or token', async () => {
    const { result } = await notify(service, { webhook_url: null, token: null }, { text: 'x', channel });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_credential' });
  });
});

describe('the URL of a webhook', () => {
  it.each<[ChatServiceName, string, boolean]>([
    ['slack', 'https://hooks.slack.com/services/T/B/x', true],
    ['slack', 'http://hooks.slack.com/services/T/B/x', false],
    ['slack', 'https://hooks.slack.com.evil.example/services/T/B/x', false],
    ['slack', 'https://user@hooks.slack.com/services/T/B/x', false],
    ['slack', 'https://evil.example/hooks.slack.com', false],
    ['teams', 'https://prod-01.westeurope.logic.azure.com:443/workflows/x?sig=y', true],
    ['teams', 'https://default1.02.environment.api.powerplatform.com:443/powerautomate/x?sig=y', true],
    ['teams', 'https://acme.webhook.office.com/webhookb2/x', true],
    ['teams', 'https://logic.azure.com.evil.example/x', false],
    ['teams', 'https://evillogic.azure.com/x', false],
    ['discord', 'https://discord.com/api/webhooks/1/x', true],
    ['discord', 'https://notdiscord.com/api/webhooks/1/x', false],
    ['google_chat', 'https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t', true],
    ['google_chat', 'https://googleapis.com/v1/spaces/A/messages', false],
    ['mattermost', 'https://chat.example.com/hooks/x', false],
    ['slack', 'nonsense', false],
  ])('of %s may be %s: %s', async (service, url, isGood) => {
    const hosts: string[] = [];
    const http = (request: { url: string }) => {
      hosts.push(new URL(request.url).hostname);
      return { status: 200, headers: {}, body: new Uint8Array() };
    };
    // The helper prepends its own URL, so these services provide the whole URL.
    const services = {
      credentials: {
        open: async () => ({ type: 'chat', service, webhook_url: url, token: null, base_url: null }) as never,
      },
    };
    const { result } = await notify(service, {}, { text: 'x' }, { http, services });
    expect(result.kind).toBe(isGood ? 'success' : 'failure');
    expect(hosts).toEqual(isGood ? [new URL(url).hostname] : []);
    if (!isGood) expect(result).toMatchObject({ code: 'invalid_credential', retryable: false });
  });

  it('must be on the server of base_url', async () => {
    const access = { webhook_url: '/hooks/x', base_url: 'https://chat.example.com' };
    const { result, received } = await notify('mattermost', access, { text: 'x' });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_credential' });
    expect(received).toEqual([]);
  });
});

describe('settings', () => {
  it.each([
    { link: { text: 'x', url: 'javascript:alert(1)' } },
    { link: { url: 'nonsense' } },
    { color: 'pink' },
    { fields: [{ label: 'x', value: {} }] },
    { credential_id: 0 },
  ])('that are unusable are refused: %j', async (config) => {
    const { result, received } = await notify('slack', { webhook_url: '/x' }, { text: 'x', ...config });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config', retryable: false });
    expect(received).toEqual([]);
  });

  it.each<[ChatServiceName, JsonObject, JsonObject]>([
    ['slack', { token: 't' }, {}],
    ['slack', { webhook_url: '/x' }, { channel: 'C1' }],
    ['teams', { webhook_url: '/x' }, { channel: 'C1' }],
    ['teams', { webhook_url: '/x' }, { thread: '1' }],
    ['discord', { token: 't' }, { channel: '../../users/@me' }],
    ['discord', { token: 't' }, { channel: '123456789012345678', thread: 'x' }],
    ['google_chat', { token: 't' }, { channel: 'spaces/../x' }],
    ['mattermost', { webhook_url: '/x' }, { thread: '1' }],
    ['telegram', { token: '1:a' }, { channel: 'me' }],
    ['telegram', { token: '1:a' }, { channel: '1', thread: 'x' }],
    ['line', { token: 't' }, { channel: 'U1' }],
    ['chatwork', { token: 't' }, { channel: '1/../../me' }],
    ['chatwork', { token: 't' }, { channel: '1', thread: '2' }],
  ])('that do not fit %s are refused: %j %j', async (service, access, config) => {
    const { result, received } = await notify(service, access, { text: 'x', ...config });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config', retryable: false });
    expect(received).toEqual([]);
  });
});
