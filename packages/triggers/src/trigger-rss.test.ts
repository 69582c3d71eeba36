import type { HttpResponse } from '@millrace/engine';
import { pollNode } from '@millrace/node-kit/testing';
import { answer } from '@millrace/node-kit/testing-http';
import { expect, test } from 'vitest';
import { triggerRss } from './trigger-rss.ts';

const url = 'https://tea.example.com/feed';
const feed = (...items: string[]) =>
  answer(`<rss version="2.0"><channel><title>Tea</title>${items.join('')}</channel></rss>`, {
    type: 'application/rss+xml',
  });
const idsOf = async (response: HttpResponse) => {
  const { result } = await pollNode(triggerRss, { config: { url }, http: [response] });
  return result.kind === 'polled' ? result.items.map(({ id }) => id) : result.code;
};

test('finds the oldest item first', async () => {
  const items = ['<item><guid>new</guid></item>', '<item><guid>old</guid></item>'];
  expect(await idsOf(feed(...items))).toEqual(['old', 'new']);
});

test('an item without an id has its address, or else its content', async () => {
  const link = '<item><title>a</title><link>https://tea.example.com/a</link></item>';
  const [byLink, byContent] = (await idsOf(feed('<item><title>b</title></item>', link))) as string[];
  expect(byLink).toBe('https://tea.example.com/a');
  expect(byContent).toMatch(/^[0-9a-f]{64}$/);
  expect(await idsOf(feed('<item><title>b</title></item>'))).toEqual([byContent]);
});

test.each([
  [
    'a page instead of a feed',
    answer('<html><body>Hello</body></html>', { type: 'text/html' }),
    'invalid_data',
  ],
  ['a status', answer('', { status: 404 }), 'http_status'],
])('fails for %s', async (_what, response, code) => {
  expect(await idsOf(response)).toBe(code);
});
