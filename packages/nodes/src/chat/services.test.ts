import type { JsonObject } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { describe, expect, it } from 'vitest';
import { notify, RICH } from './test-service.ts';

const LINK = 'https://shop.example.com/o?a=1&b=2';
const SPACE = '\u200b';

describe('Slack', () => {
  const hook = { webhook_url: '/services/T0/B0/secret' };
  const bot = { token: 'xoxb-1' };

  it('by webhook sends text, and gets a word', async () => {
    const { result, request } = await notify(
      'slack',
      hook,
      { text: 'a <b> & c' },
      { answer: { body: 'ok' } },
    );
    expect(request).toMatchObject({ url: '/services/T0/B0/secret', body: { text: 'a &lt;b&gt; &amp; c' } });
    expect(result).toMatchObject({ output: { service: 'slack', message_id: null, response: 'ok' } });
  });

  it('by token calls chat.postMessage with blocks', async () => {
    const answer = { body: '{"ok":true,"channel":"C1","ts":"1503435956.000247"}' };
    const { result, request } = await notify(
      'slack',
      bot,
      { ...RICH, channel: 'C1', thread: '1503435956.000100' },
      { answer },
    );
    expect(request?.url).toBe('/chat.postMessage');
    expect(request?.headers.authorization).toBe('Bearer xoxb-1');
    expect(request?.body).toEqual({
      channel: 'C1',
      thread_ts: '1503435956.000100',
      attachments: [
        {
          color: '#e01e5a',
          fallback: 'Title',
          blocks: [
            { type: 'header', text: { type: 'plain_text', text: 'Title', emoji: true } },
            { type: 'section', text: { type: 'mrkdwn', text: 'a &lt;b&gt; &amp; *c*' } },
            {
              type: 'section',
              fields: [
                { type: 'mrkdwn', text: '*Order*\n17' },
                { type: 'mrkdwn', text: '*Paid*\ntrue' },
              ],
            },
            { type: 'section', text: { type: 'mrkdwn', text: `<${LINK.replace('&', '&amp;')}|Open>` } },
          ],
        },
      ],
    });
    expect(result).toMatchObject({ output: { message_id: '1503435956.000247' } });
  });

  it('splits fields into sections of ten', async () => {
    const fields = Array.from({ length: 23 }, (_, index) => ({ label: `f${index}`, value: index }));
    const { request } = await notify('slack', hook, { text: 'x', fields });
    const ten = Array.from({ length: 10 }, () => expect.anything());
    expect(request?.body).toMatchObject({
      blocks: [{}, { fields: ten }, { fields: ten }, { fields: ten.slice(0, 3) }],
    });
  });

  it('only mentions people if allowed', async () => {
    const text = '<!channel> <!here|here> <@U012AB> <!subteam^S1> <http://x|y> <#C1>';
    const plain = await notify('slack', hook, { text });
    expect(plain.request?.text).not.toContain('<');
    const calling = await notify('slack', hook, { text, allow_mentions: true });
    expect(calling.request?.body).toEqual({
      text: '<!channel> <!here|here> <@U012AB> <!subteam^S1> &lt;http://x|y&gt; &lt;#C1&gt;',
    });
  });

  it.each([
    ['channel_not_found', 'chat_refused', false],
    ['invalid_auth', 'chat_auth_failed', false],
    ['ratelimited', 'chat_rate_limited', true],
    ['internal_error', 'chat_unavailable', true],
  ])('reports %s with status 200', async (error, code, retryable) => {
    const answer = { body: `{"ok":false,"error":"${error}"}` };
    const { result } = await notify('slack', bot, { text: 'x', channel: 'C1' }, { answer });
    expect(result).toMatchObject({
      kind: 'failure',
      code,
      retryable,
      message: saying(error),
    });
  });
});

describe('Microsoft Teams', () => {
  const hook = { webhook_url: '/workflows/x/triggers/manual/paths/invoke?sig=secret-secret' };

  it('sends a message with an Adaptive Card, and gets 202', async () => {
    const { result, request } = await notify('teams', hook, RICH, { answer: { status: 202, body: '' } });
    expect(request?.url).toBe(hook.webhook_url);
    expect(request?.body).toEqual({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            msteams: { width: 'Full' },
            body: [
              {
                type: 'Container',
                style: 'attention',
                bleed: true,
                items: [
                  { type: 'TextBlock', text: 'Title', wrap: true, size: 'Large', weight: 'Bolder' },
                  { type: 'TextBlock', text: 'a <b\\> & \\*c\\*', wrap: true },
                  {
                    type: 'FactSet',
                    facts: [
                      { title: 'Order', value: '17' },
                      { title: 'Paid', value: 'true' },
                    ],
                  },
                ],
              },
            ],
            actions: [{ type: 'Action.OpenUrl', title: 'Open', url: LINK }],
          },
        },
      ],
    });
    expect(result).toMatchObject({ kind: 'success', output: { message_id: null, response: null } });
  });

  it('of the older kind hides a rate limit in a text', async () => {
    const body =
      'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId x';
    const { result } = await notify('teams', hook, { text: 'x' }, { answer: { body } });
    expect(result).toMatchObject({ kind: 'failure', code: 'chat_rate_limited', retryable: true });
  });

  it('counts the bytes of the whole message', async () => {
    const { result } = await notify('teams', hook, { text: '支'.repeat(10_000) });
    expect(result).toMatchObject({ code: 'message_too_long', message: saying('28000') });
  });
});

describe('Discord', () => {
  const hook = { webhook_url: '/api/webhooks/123456789012345678/secret' };
  const id = '123456789012345678';

  it('by webhook waits for the result', async () => {
    const { result, request } = await notify(
      'discord',
      hook,
      { text: '@everyone hi', thread: id },
      { answer: { body: '{"id":"42"}' } },
    );
    expect(request?.url).toBe(`${hook.webhook_url}?wait=true&thread_id=${id}`);
    expect(request?.headers['user-agent']).toMatch(/^DiscordBot \(Millrace, \d/);
    expect(request?.body).toEqual({ content: '@everyone hi', allowed_mentions: { parse: [] } });
    expect(result).toMatchObject({ output: { message_id: '42' } });
  });

  it('by token sends an embed with a nonce that drops a repeat', async () => {
    const bodies = [];
    for (const attempt of [1, 2]) {
      const config = { ...RICH, channel: id, allow_mentions: true, thread: id };
      const { request } = await notify('discord', { token: 't' }, config, { attempt, idempotencyKey: 'k' });
      expect(request?.url).toBe(`/channels/${id}/messages`);
      expect(request?.headers.authorization).toBe('Bot t');
      bodies.push(request?.body);
    }
    expect(bodies[0]).toEqual(bodies[1]);
    expect(bodies[0]).toEqual({
      embeds: [
        {
          title: 'Title',
          description: `a <b> & *c*\n\n[Open](${LINK})`,
          fields: [
            { name: 'Order', value: '17', inline: true },
            { name: 'Paid', value: 'true', inline: true },
          ],
          color: 0xe74c3c,
        },
      ],
      allowed_mentions: { parse: ['users', 'roles', 'everyone'] },
      message_reference: { message_id: id, fail_if_not_exists: false },
      nonce: expect.stringMatching(/^[0-9a-f]{25}$/),
      enforce_nonce: true,
    });
  });

  it('says in its body how long to wait', async () => {
    const answer = {
      status: 429,
      body: '{"message":"You are being rate limited.","retry_after":64.57,"global":false}',
    };
    const { result } = await notify('discord', hook, { text: 'x' }, { answer });
    expect(result).toMatchObject({ code: 'chat_rate_limited', retryable: true, retryAfterMs: 64_570 });
  });

  it.each<[JsonObject]>([
    [{ text: 'x'.repeat(2_001) }],
    [{ text: 'x', title: 'x'.repeat(257) }],
    [{ text: 'x', fields: Array.from({ length: 26 }, () => ({ label: 'a', value: 'b' })) }],
    [{ text: 'x', fields: [{ label: 'a', value: 'x'.repeat(1_025) }] }],
    [
      {
        text: 'x'.repeat(4_000),
        fields: [1, 2, 3].map((label) => ({ label: `${label}`, value: 'x'.repeat(1_000) })),
      },
    ],
  ])('takes no more than its limits: %#', async (config) => {
    expect((await notify('discord', hook, config)).result).toMatchObject({ code: 'message_too_long' });
  });
});

describe('Google Chat', () => {
  const hook = { webhook_url: '/v1/spaces/AAA/messages?key=k&token=t' };

  it('by webhook keeps its key, and drops a repeat by requestId', async () => {
    const config = { text: '<users/all> hi', thread: 'order-17' };
    const { result, request } = await notify('google_chat', hook, config, {
      answer: { body: '{"name":"spaces/AAA/messages/B.B"}' },
    });
    const url = new URL(request?.url ?? '', 'http://x');
    expect(url.pathname).toBe('/v1/spaces/AAA/messages');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      key: 'k',
      token: 't',
      requestId: expect.stringMatching(/^[0-9a-f]{64}$/),
      messageReplyOption: 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD',
    });
    expect(request?.body).toEqual({ text: `<${SPACE}users/all> hi`, thread: { threadKey: 'order-17' } });
    expect(result).toMatchObject({ output: { message_id: 'spaces/AAA/messages/B.B' } });
  });

  it('by token sends a card', async () => {
    const { request } = await notify('google_chat', { token: 'ya29' }, { ...RICH, channel: 'spaces/AAA' });
    expect(request?.url).toMatch(/^\/v1\/spaces\/AAA\/messages\?requestId=[0-9a-f]{64}$/);
    expect(request?.headers.authorization).toBe('Bearer ya29');
    expect(request?.body).toEqual({
      cardsV2: [
        {
          cardId: 'message',
          card: {
            header: { title: 'Title' },
            sections: [
              {
                widgets: [
                  { textParagraph: { text: '<font color="#d93025">a &lt;b&gt; &amp; *c*</font>' } },
                  { decoratedText: { topLabel: 'Order', text: '17', wrapText: true } },
                  { decoratedText: { topLabel: 'Paid', text: 'true', wrapText: true } },
                  { buttonList: { buttons: [{ text: 'Open', onClick: { openLink: { url: LINK } } }] } },
                ],
              },
            ],
          },
        },
      ],
    });
  });

  it('explains failures in error.message', async () => {
    const answer = {
      status: 429,
      body: '{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED"}}',
    };
    const { result } = await notify('google_chat', hook, { text: 'x' }, { answer });
    expect(result).toMatchObject({
      code: 'chat_rate_limited',
      message: saying('Quota exceeded'),
    });
  });
});

describe('Mattermost', () => {
  it('by webhook may name another channel', async () => {
    const config = { text: '@all, ask ada@example.com or @bob', channel: 'town-square' };
    const { result, request } = await notify('mattermost', { webhook_url: '/hooks/x' }, config, {
      answer: { body: 'ok' },
    });
    expect(request?.body).toEqual({
      text: `@${SPACE}all, ask ada@example.com or @${SPACE}bob`,
      channel: 'town-square',
    });
    expect(result).toMatchObject({ output: { message_id: null, response: 'ok' } });
  });

  it('by token creates a post', async () => {
    const config = { ...RICH, channel: 'ch1', thread: 'root1' };
    const { result, request } = await notify('mattermost', { token: 't' }, config, {
      answer: { status: 201, body: '{"id":"p1"}' },
    });
    expect(request?.url).toBe('/api/v4/posts');
    expect(request?.headers.authorization).toBe('Bearer t');
    expect(request?.body).toEqual({
      channel_id: 'ch1',
      message: '',
      root_id: 'root1',
      props: {
        attachments: [
          {
            fallback: 'Title',
            title: 'Title',
            text: `a <b> & *c*\n\n[Open](${LINK})`,
            fields: [
              { title: 'Order', value: '17', short: true },
              { title: 'Paid', value: 'true', short: true },
            ],
            color: '#d24b4e',
          },
        ],
      },
    });
    expect(result).toMatchObject({ output: { message_id: 'p1' } });
  });

  it('says in a header how long to wait', async () => {
    const answer = { status: 429, headers: { 'x-ratelimit-reset': '3' }, body: 'limit exceeded' };
    const { result } = await notify('mattermost', { webhook_url: '/hooks/x' }, { text: 'x' }, { answer });
    expect(result).toMatchObject({ code: 'chat_rate_limited', retryAfterMs: 3_000 });
  });
});

describe('Chatwork', () => {
  const bot = { token: 't' };

  it('sends a form', async () => {
    const answer = { body: '{"message_id":"1234"}' };
    const { result, request } = await notify(
      'chatwork',
      bot,
      { ...RICH, channel: '4711', thread: '9:88' },
      { answer },
    );
    expect(request?.url).toBe('/rooms/4711/messages');
    expect(request?.headers).toMatchObject({
      'x-chatworktoken': 't',
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(Object.fromEntries(new URLSearchParams(request?.text))).toEqual({
      self_unread: '0',
      body: `[rp aid=9 to=4711-88]\n[info][title](devil) Title[/title]a <b> & *c*\nOrder: 17\nPaid: true\nOpen: ${LINK}[/info]`,
    });
    expect(result).toMatchObject({ output: { message_id: '1234' } });
  });

  it('escapes its markup', async () => {
    const text = '[toall] [To:1] [/info][info] [rp aid=1] [x]';
    const plain = await notify('chatwork', bot, { text, channel: '1' });
    expect(new URLSearchParams(plain.request?.text).get('body')).toBe(
      `[${SPACE}toall] [${SPACE}To:1] [${SPACE}/info][${SPACE}info] [${SPACE}rp aid=1] [x]`,
    );
    const calling = await notify('chatwork', bot, { text, channel: '1', allow_mentions: true });
    expect(new URLSearchParams(calling.request?.text).get('body')).toContain('[toall] [To:1] ');
  });

  it('says in a header when to retry', async () => {
    const now = 1_700_000_000_000;
    const headers = {
      'x-ratelimit-limit': '300',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '1700000090',
    };
    const answer = { status: 429, headers, body: '{"errors":["Rate limit exceeded"]}' };
    const { result } = await notify('chatwork', bot, { text: 'x', channel: '1' }, { answer, now });
    expect(result).toMatchObject({
      code: 'chat_rate_limited',
      retryAfterMs: 90_000,
      message: saying('Rate limit exceeded'),
    });
  });
});
