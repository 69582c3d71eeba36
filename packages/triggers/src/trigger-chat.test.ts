import type { JsonObject } from '@millrace/engine';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, test } from 'vitest';
import { findChatFaults, readChatOptions } from './chat/options.ts';
import { triggerChat } from './trigger-chat.ts';

test('passes the message on', async () => {
  const { result } = await runNode(triggerChat, {
    config: { title: 'Chat' },
    trigger: { message: 'Hello', session_id: 'a' },
  });
  expect(result).toMatchObject({ kind: 'success', output: { data: { message: 'Hello', session_id: 'a' } } });
});

test('what is left out has its default', () => {
  expect(readChatOptions({ title: 'Chat' })).toMatchObject({
    live: true,
    language: 'auto',
    messages_per_minute: 10,
    allowed_origins: [],
  });
  expect(readChatOptions({ title: 'Chat', language: 'fr' })).toBeNull();
});

describe('faults', () => {
  test.each<[string, JsonObject, readonly string[]]>([
    ['none', { title: 'Chat', answer: '{{nodes.agent.output.text}}' }, []],
    ['a template before there is anything to read', { title: '{{trigger.data.message}}' }, ['/title']],
  ])('%s', (_name, config, expected) => {
    expect(findChatFaults(config).map(({ pointer }) => pointer)).toEqual(expected);
  });

  test.each([
    ['https://shop.example.com', true],
    ['https://shop.example.com:8443', true],
    ['http://localhost:3000', true],
    ['https://shop.example.com/', false],
    ['https://shop.example.com/page', false],
    ['http://shop.example.com', false],
    ['https://*.example.com', false],
    ["https://a.example 'unsafe-inline'", false],
    ['https://a.example; script-src *', false],
    ['javascript:alert(1)', false],
    ['*', false],
    ['null', false],
  ])('the website %s: %s', (origin, isFine) => {
    const config = { title: 'Chat', allowed_origins: [origin] };
    expect(findChatFaults(config).map(({ pointer }) => pointer)).toEqual(
      isFine ? [] : ['/allowed_origins/0'],
    );
    expect(readChatOptions(config) !== null).toBe(isFine);
  });
});
