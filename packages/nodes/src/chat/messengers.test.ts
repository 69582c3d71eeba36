import { describe, expect, it } from 'vitest';
import { notify, RICH } from './test-service.ts';

const LINK = 'https://shop.example.com/o?a=1&b=2';
const SPACE = '\u200b';

describe('Telegram', () => {
  const bot = { token: '123:abc-DEF_123456' };

  it('calls sendMessage with HTML', async () => {
    const answer = { body: '{"ok":true,"result":{"message_id":99}}' };
    const config = { ...RICH, text: 'a <b> & @bob', channel: '@news_channel', thread: '12' };
    const { result, request } = await notify('telegram', bot, config, { answer });
    expect(request?.url).toBe('/bot123:abc-DEF_123456/sendMessage');
    expect(request?.headers).not.toHaveProperty('authorization');
    expect(request?.body).toEqual({
      chat_id: '@news_channel',
      text: `🔴 <b>Title</b>\n\na &lt;b&gt; &amp; @${SPACE}bob\n\n<b>Order</b>: 17\n<b>Paid</b>: true\n\n<a href="${LINK.replace('&', '&amp;')}">Open</a>`,
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
      reply_parameters: { message_id: 12, allow_sending_without_reply: true },
    });
    expect(result).toMatchObject({ output: { message_id: '99' } });
  });

  it('can write into a topic', async () => {
    const { request } = await notify('telegram', bot, { text: 'x', channel: '-100', thread: 'topic:5' });
    expect(request?.body).toMatchObject({ chat_id: '-100', message_thread_id: 5 });
  });

  it.each([
    [
      429,
      '{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":35}}',
      'chat_rate_limited',
      35_000,
    ],
    [
      400,
      '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}',
      'chat_refused',
      undefined,
    ],
    [404, '{"ok":false,"error_code":404,"description":"Not Found"}', 'chat_auth_failed', undefined],
    [200, '<html>', 'chat_unavailable', undefined],
  ])('%i %s is %s', async (status, body, code, retryAfterMs) => {
    const { result } = await notify(
      'telegram',
      bot,
      { text: 'x', channel: '1' },
      { answer: { status, body } },
    );
    expect(result).toMatchObject({ kind: 'failure', code });
    expect(result.kind === 'failure' ? result.retryAfterMs : null).toBe(retryAfterMs);
  });

  it('counts characters without markup', async () => {
    const fits = { text: '&'.repeat(4_096), channel: '1' };
    const answer = { body: '{"ok":true,"result":{"message_id":1}}' };
    expect((await notify('telegram', bot, fits, { answer })).result.kind).toBe('success');
    const tooLong = { text: '&'.repeat(4_097), channel: '1' };
    expect((await notify('telegram', bot, tooLong)).result).toMatchObject({ code: 'message_too_long' });
  });
});

describe('LINE', () => {
  const bot = { token: 't' };
  const to = `C${'0123456789abcdef'.repeat(2)}`;

  it('pushes with a retry key', async () => {
    const keys = [];
    for (const idempotencyKey of ['a', 'a', 'b']) {
      const { request } = await notify('line', bot, { text: 'Hi', channel: to }, { idempotencyKey });
      expect(request).toMatchObject({
        url: '/v2/bot/message/push',
        body: { to, messages: [{ type: 'text', text: 'Hi' }] },
      });
      expect(request?.headers.authorization).toBe('Bearer t');
      keys.push(String(request?.headers['x-line-retry-key']));
    }
    expect(keys[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([keys[0] === keys[1], keys[0] === keys[2]]).toEqual([true, false]);
  });

  it('sends a flex message if there is more than text', async () => {
    const answer = { body: '{"sentMessages":[{"id":"461230966842064897","quoteToken":"q"}]}' };
    const { result, request } = await notify('line', bot, { ...RICH, channel: to }, { answer });
    expect(request?.body).toMatchObject({
      messages: [
        {
          type: 'flex',
          altText: 'Title',
          contents: {
            type: 'bubble',
            body: {
              contents: [
                { type: 'text', text: 'Title', weight: 'bold', color: '#e53935' },
                { type: 'text', text: 'a <b> & *c*', wrap: true },
                { type: 'box', layout: 'baseline', contents: [{ text: 'Order' }, { text: '17' }] },
                { type: 'box', layout: 'baseline', contents: [{ text: 'Paid' }, { text: 'true' }] },
              ],
            },
            footer: { contents: [{ type: 'button', action: { type: 'uri', label: 'Open', uri: LINK } }] },
          },
        },
      ],
    });
    expect(result).toMatchObject({ output: { message_id: '461230966842064897' } });
  });

  it('recognises the response to a repeat', async () => {
    const answer = {
      status: 409,
      body: '{"message":"The retry key is already accepted","sentMessages":[{"id":"7"}]}',
    };
    const { result } = await notify('line', bot, { text: 'x', channel: to }, { answer });
    expect(result).toMatchObject({ kind: 'success', output: { message_id: '7' } });
  });

  it("doesn't wait for the next month", async () => {
    const answer = { status: 429, body: '{"message":"You have reached your monthly limit."}' };
    const { result } = await notify('line', bot, { text: 'x', channel: to }, { answer });
    expect(result).toMatchObject({ code: 'chat_rate_limited', retryable: false });
  });
});
