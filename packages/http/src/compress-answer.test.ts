import { gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { compressAnswer } from './compress-answer.ts';

const LONG = 'a long answer, 長い応答 '.repeat(100);

async function answer(text: string, encoding?: string) {
  const app = Fastify();
  app.get('/', { onSend: compressAnswer }, async () => text);
  const headers = encoding === undefined ? {} : { 'accept-encoding': encoding };
  return await app.inject({ url: '/', headers });
}

test('a long answer is compressed for whoever accepts gzip', async () => {
  const { headers, rawPayload } = await answer(LONG, 'br, gzip');
  expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(headers['content-length']).toBe(String(rawPayload.length));
  expect(gunzipSync(rawPayload).toString()).toBe(LONG);
});

test.each([undefined, 'br', 'gzip;q=0'])('for others it stays as it is: %s', async (encoding) => {
  const { headers, body } = await answer(LONG, encoding);
  expect(headers).not.toHaveProperty('content-encoding');
  expect([headers.vary, body]).toEqual(['accept-encoding', LONG]);
});

test('a short answer stays as it is', async () => {
  const { headers, body } = await answer('short', 'gzip');
  expect(headers).not.toHaveProperty('content-encoding');
  expect(body).toBe('short');
});
