import { createHmac } from 'node:crypto';
import type { JsonObject } from '@millrace/engine';
import { send } from '@millrace/testing/api';
import { pngFile } from '@millrace/testing/png';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Reached, reachServices } from './services.ts';
import { type Imported, openWorld, TOKEN, type World } from './world.ts';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';

let world: World;
let reached: Reached;
beforeAll(async () => {
  world = await openWorld();
  reached = await reachServices(world);
});
afterAll(async () => {
  await reached.stop();
  await world.close();
});
beforeEach(() => world.outside.forget());

async function addressOf({ id }: Imported): Promise<string> {
  const hook = await world.service.api('GET', `/workflows/${id}/webhook-info`, { key: world.key });
  return `${world.service.url}/api/v1/webhooks/${String(hook.json.hash)}`;
}

describe('photo-archive', () => {
  const bucket = 'PUT /s3.mill-1.amazonaws.com/photos-1/';
  let address: string;
  beforeAll(async () => {
    const keys = { access_key_id: 'AKIDTEST', secret_access_key: 'not-a-real-one' };
    const archive = await world.importExample('photo-archive', {
      photo_key: await world.addCredential('secret', { value: SECRET }),
      pixels: 8,
      aws_credential: await world.addCredential('aws', keys, ['*.amazonaws.com']),
      region: 'mill-1',
      bucket: 'photos-1',
    });
    address = await addressOf(archive);
    // Loads what changes images, for which a caller might not wait on a busy machine.
    const stored = await world.service.api('POST', '/files?name=one.png', {
      key: world.key,
      raw: pngFile(4, 4),
      headers: { 'content-type': 'image/png' },
    });
    await world.finished(await world.execute(archive.id, { photos: JSON.parse(stored.text) as JsonObject }));
  });
  beforeEach(() => world.outside.on(`${bucket}*`, { headers: { etag: '"1"' } }));

  async function hand(files: readonly (readonly [string, Uint8Array<ArrayBuffer>])[], key = SECRET) {
    const body = new FormData();
    for (const [name, content] of files) body.append('photos', new Blob([content]), name);
    body.append('album', 'Harbour');
    const response = await fetch(address, { method: 'POST', body, headers: { 'x-photo-key': key } });
    return { status: response.status, body: (await response.json()) as { readonly [name: string]: unknown } };
  }
  const text = new Uint8Array(Buffer.from('no picture'));

  it('stores small pictures in one archive, and says which files are none', async () => {
    const files = [
      ['quay.png', pngFile(16, 12)],
      ['notes.txt', text],
      ['mole.png', pngFile(4, 4)],
    ] as const;
    const { status, body } = await hand(files);
    expect({ status, body }).toMatchObject({ status: 201, body: { stored: 2 } });
    expect(body.refused).toEqual([expect.stringMatching(/^Picture 2: /)]);
    const [put, ...others] = world.outside.received;
    expect(others).toEqual([]);
    expect(put?.line).toBe(`${bucket}${String(body.key)}`);
    expect(body.key).toMatch(/^photos\/\d{4}\/\d{2}\/\d{2}\/[0-9a-f]{16}\.zip$/);
    expect(put?.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDTEST\/\d+\/mill-1\/s3\//);
    for (const part of ['PK', 'quay.jpg', 'mole.jpg']) expect(put?.text).toContain(part);
    // Repeated, it is the same object.
    expect((await hand(files)).body.key).toBe(body.key);
  });

  it('takes a single picture', async () => {
    expect(await hand([['one.png', pngFile(16, 12)]])).toMatchObject({
      status: 201,
      body: { stored: 1, refused: [] },
    });
  });

  it('refuses a call without pictures, and a stranger', async () => {
    expect(await hand([['notes.txt', text]])).toMatchObject({ status: 422 });
    expect((await hand([])).body.error).toMatch(/^Send 1 to 20 pictures/);
    expect((await hand([['one.png', pngFile(4, 4)]], 'wrong')).status).toBe(401);
    expect(world.outside.received).toEqual([]);
  });

  it('answers with an error that makes the sender repeat the call if S3 refuses', async () => {
    world.outside.on(`${bucket}*`, { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' });
    expect(await hand([['one.png', pngFile(4, 4)]])).toMatchObject({
      status: 500,
      body: { code: 'execution_failed' },
    });
  });
});

describe('status-link', () => {
  let address: string;
  let links: Imported;
  beforeAll(async () => {
    const vars = {
      shop_key: await world.addCredential('secret', { value: 'shop-key' }),
      link_secret: await world.addCredential('secret', { value: SECRET }),
      shop_url: world.outside.url,
      shop_credential: await world.addToken(),
    };
    links = await world.importExample('status-link', vars);
    address = await addressOf(links);
    world.outside.on('GET /orders/A-4711', { body: { state: 'Shipped <today> & soon there' } });
  });
  const ask = (order: unknown, key = 'shop-key') =>
    send(`${address}/links`, 'POST', { body: { order }, headers: { 'x-shop-key': key } });
  async function linkFor(order: string): Promise<URL> {
    const answer = await ask(order);
    expect(answer.status, answer.text).toBe(201);
    return new URL(String(answer.json.url));
  }
  const open = (token: string | null) =>
    send(`${address}/status?t=${encodeURIComponent(token ?? '')}`, 'GET');

  it('shows the state of the order that the link names', async () => {
    const url = await linkFor('A-4711');
    expect(url.href).toMatch(/^https:\/\/flows\.example\.com\/api\/v1\/webhooks\/HASH\/status\?t=eyJ/);
    const shown = await open(url.searchParams.get('t'));
    expect(shown.status).toBe(200);
    expect(shown.headers.get('content-type')).toMatch(/^text\/html/);
    expect(shown.headers.get('cache-control')).toBe('no-store');
    expect(shown.text).toContain('<p>Shipped &lt;today&gt; &amp; soon there</p>');
    expect(world.outside.received).toMatchObject([{ headers: { authorization: `Bearer ${TOKEN}` } }]);
  });

  it('shows nothing for a link that was changed, of another secret, or missing', async () => {
    const token = (await linkFor('A-4711')).searchParams.get('t') ?? '';
    const [header, , signature] = token.split('.');
    const claims = Buffer.from('{"sub":"A-1","aud":"status-link"}').toString('base64url');
    for (const wrong of [`${header}.${claims}.${signature}`, `${token}x`, 'none', null]) {
      const shown = await open(wrong);
      expect(shown.status, shown.text).toBe(403);
      expect(shown.text).toContain('does not work any more');
    }
    expect(world.outside.received).toEqual([]);
  });

  it('shows nothing for a link that has expired', async () => {
    const signed = (exp: number) => {
      const parts = [{ alg: 'HS256' }, { sub: 'A-4711', aud: 'status-link', exp }];
      const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
      return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`;
    };
    const nowS = Math.floor(Date.now() / 1_000);
    expect((await open(signed(nowS + 3_600))).status).toBe(200);
    expect((await open(signed(nowS - 3_600))).status).toBe(403);
  });

  it('asks to come back if the shop does not answer, and makes no link of nonsense or for a stranger', async () => {
    world.outside.on('GET /orders/A-5', { status: 500 });
    const shown = await open((await linkFor('A-5')).searchParams.get('t'));
    expect([shown.status, shown.headers.get('retry-after')]).toEqual([503, '60']);
    expect((await ask('../admin')).status).toBe(422);
    expect((await ask(null)).status).toBe(422);
    expect((await ask('A-4711', 'wrong')).status).toBe(401);
  });
});
