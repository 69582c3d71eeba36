import { describe, expect, it } from 'vitest';
import {
  acceptedMethods,
  isSecretName,
  isWebhookPath,
  keptRequest,
  matchPath,
  type RequestOptions,
} from './request.ts';

const PLAIN: RequestOptions = { methods: ['POST'], path: '', headers: [], query: [] };
const CALL = {
  method: 'GET',
  rest: '',
  headers: { 'x-topic': 'orders/paid', 'x-two': ['a', 'b'], authorization: 'Bearer s', 'x-other': 'o' },
  query: new URLSearchParams('page=2&tag=a&tag=b&token=s&__proto__=p'),
};

describe('the methods', () => {
  it('always include POST', () => {
    expect(acceptedMethods({ methods: [] })).toEqual(['POST']);
    expect(acceptedMethods({ methods: ['DELETE', 'GET'] })).toEqual(['GET', 'POST', 'DELETE']);
  });
});

describe('what is kept of a call', () => {
  it('is nothing unless the settings ask for it', () => {
    expect(keptRequest(PLAIN, CALL, {})).toBeNull();
    expect(keptRequest({ ...PLAIN, methods: ['GET'] }, CALL, {})).toEqual({
      method: 'GET',
      headers: {},
      query: {},
      params: {},
    });
  });

  it('is only what is listed, in lower case; what is missing is left out', () => {
    const options = {
      ...PLAIN,
      headers: ['X-Topic', 'X-Two', 'X-None'],
      query: ['page', 'tag', '__proto__'],
    };
    const kept = keptRequest(options, CALL, { id: '7' });
    expect(kept).toMatchObject({
      headers: { 'x-topic': 'orders/paid', 'x-two': 'a, b' },
      params: { id: '7' },
    });
    expect(Object.entries(kept?.query ?? {})).toEqual([
      ['page', '2'],
      ['tag', ['a', 'b']],
      ['__proto__', 'p'],
    ]);
  });

  it('is never a secret, even if it is listed', () => {
    const options = { ...PLAIN, headers: ['Authorization', 'x-topic'], query: ['token', 'page'] };
    expect(keptRequest(options, CALL, {}, ['page'])).toEqual({
      method: 'GET',
      headers: { 'x-topic': 'orders/paid' },
      query: {},
      params: {},
    });
  });

  it.each([
    ...[
      'Authorization',
      'Proxy-Authorization',
      'Cookie',
      'Set-Cookie',
      'X-Api-Key',
      'apikey',
      'access_token',
    ],
    ...['X-Hub-Signature-256', 'Stripe-Signature', 'X-Gitlab-Token', 'X-Shopify-Hmac-Sha256', 'accessToken'],
    ...['X-Square-HmacSha256-Signature', 'X-Telegram-Bot-Api-Secret-Token', 'sig', 'hub.verify_token'],
  ])('%s is the name of a secret', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each([
    'X-Topic',
    'assignee',
    'keyword',
    'author',
    'design',
    'Idempotency-Key',
    'X-GitHub-Event',
    'monkey',
  ])('%s is not', (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe('the path', () => {
  it('consists of plain parts and names', () => {
    for (const path of ['', 'orders', 'orders/:id', ':a/:b/c.json'])
      expect([path, isWebhookPath(path)]).toEqual([path, true]);
    for (const path of ['/', '/a', 'a/', 'a//b', ':', ':1', 'a/:id/:id', 'a?b', 'a b', '..', 'ä', '{{x}}'])
      expect([path, isWebhookPath(path)]).toEqual([path, false]);
  });

  it('matches part by part, and names read what was escaped', () => {
    expect(matchPath('', '')).toEqual({});
    expect(matchPath('orders/:id/lines', 'orders/A%2F7/lines')).toEqual({ id: 'A/7' });
    expect(Object.entries(matchPath(':__proto__', 'x') ?? {})).toEqual([['__proto__', 'x']]);
    for (const rest of ['', 'orders', 'orders/', 'orders/7/', 'Orders/7', 'orders/7/8', 'orders/%ff'])
      expect([rest, matchPath('orders/:id', rest)]).toEqual([rest, null]);
    expect(matchPath('', 'orders')).toBeNull();
  });
});
