import { createHash, generateKeyPairSync } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { createGuardedHttpClient } from '@millrace/egress/guarded-client';
import type { CredentialOf, HttpCredential, HttpRequest } from '@millrace/engine';
import { startHttp } from '@millrace/testing/test-server';
import { jwtVerify } from 'jose';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY } from '../../../ports/test/certificate.ts';
import type { TokenSource } from '../oauth/tokens.ts';
import type { SealedRow } from '../store.ts';
import { authenticateRequest } from './authenticate.ts';

const client = createGuardedHttpClient({ allowHosts: ['127.0.0.1', '127.0.0.2'] });
afterAll(() => client.close());

const ROW = { id: 3, name: 'Shop' } as SealedRow;
const secrets: string[] = [];
afterEach(() => void secrets.splice(0));

const NO_TOKENS: TokenSource = { find: () => Promise.reject(new Error('no token is fetched')) };

/** Authenticates a request to a server on this machine. */
function prepare(
  credential: HttpCredential,
  url: string,
  request: Partial<HttpRequest> = {},
  tokens: TokenSource = NO_TOKENS,
) {
  const limits = { timeoutMs: 60_000, maxResponseBytes: 10_000, maxRedirects: 3 };
  return authenticateRequest(
    ROW,
    credential,
    { method: 'GET', url, headers: {}, ...limits, ...request },
    {
      http: client,
      tokens,
      now: Date.now,
      onSecret: (secret) => void secrets.push(secret),
    },
  );
}

const { signal } = new AbortController();
const textOf = (body: Uint8Array) => new TextDecoder().decode(body);

describe('digest', () => {
  const credential = { type: 'digest', username: 'ada', password: 'secret' } as const;

  /** A server that checks digests of its own nonce, and says what it got. */
  function startDigest() {
    return startHttp((request, response) => {
      const { authorization = '' } = request.headers;
      const given = (name: string) => new RegExp(`[ ,]${name}="?([^",]+)"?`).exec(authorization)?.[1] ?? '';
      const hash = (text: string) => createHash('sha256').update(text).digest('hex');
      const [account, target] = [hash('ada:shop:secret'), hash(`${request.method}:${given('uri')}`)];
      const parts = [account, 'n0nce', given('nc'), given('cnonce'), 'auth', target];
      const isRight = given('uri') === request.url && given('response') === hash(parts.join(':'));
      if (!isRight) {
        const challenge = 'Digest realm="shop", nonce="n0nce", algorithm=SHA-256, qop="auth"';
        response.writeHead(401, { 'www-authenticate': challenge }).end('who?');
        return;
      }
      void text(request).then((body) => response.end(`hello ${body}`));
    });
  }

  test('answers the challenge with the same request', async () => {
    const { url } = await startDigest();
    const request = prepare(credential, `${url}/orders?a=1`, { method: 'POST', body: 'order' });
    expect(request.shown).toEqual({ url: `${url}/orders?a=1`, headers: { authorization: '[hidden]' } });
    const response = await request.send(signal);
    expect([response.status, textOf(response.body)]).toEqual([200, 'hello order']);
  });

  test('returns the refusal of a wrong password, after one more try', async () => {
    const { url } = await startDigest();
    const response = await prepare({ ...credential, password: 'wrong' }, url).send(signal);
    expect([response.status, textOf(response.body)]).toEqual([401, 'who?']);
  });
});

describe('a token that was fetched', () => {
  const app: CredentialOf<'oauth2'> = {
    type: 'oauth2',
    grant: 'client_credentials',
    service: 'custom',
    client_id: 'c',
    client_secret: 's',
    client_authentication: 'body',
    scope: null,
    authorization_url: null,
    token_url: 'https://x.example',
    authorization_parameters: null,
    token_parameters: null,
    token_header: null,
  };
  const tokens = { find: async () => ({ text: 't0ken', secrets: ['t0ken'], generation: 1 }) };

  async function sentWith(credential: HttpCredential, headers: HttpRequest['headers'] = {}) {
    const seen: IncomingHttpHeaders[] = [];
    const { url } = await startHttp((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    const request = prepare(credential, url, { headers }, tokens);
    await request.send(signal);
    return { shown: request.shown.headers, received: seen[0] };
  }

  test('is a bearer token without a header of its own', async () => {
    const { shown, received } = await sentWith(app);
    expect(received?.authorization).toBe('Bearer t0ken');
    expect(shown).toEqual({ authorization: '[hidden]' });
  });

  test('is sent by itself in the header that the credential names, and nowhere else', async () => {
    const { shown, received } = await sentWith({ ...app, token_header: 'X-Shopify-Access-Token' });
    expect(received).toMatchObject({ 'x-shopify-access-token': 't0ken' });
    expect(received).not.toHaveProperty('authorization');
    expect(shown).toEqual({ 'x-shopify-access-token': '[hidden]' });
    expect(secrets).toEqual(['t0ken']);
  });

  test('does not replace a header of the request', async () => {
    const sending = sentWith({ ...app, token_header: 'X-Own' }, { 'x-own': 'mine' });
    await expect(sending).rejects.toThrow();
  });
});

describe('a signed token', () => {
  test('is made for each request', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const seen: string[] = [];
    const { url } = await startHttp((request, response) => {
      seen.push(request.headers.authorization?.replace('Bearer ', '') ?? '');
      response.end();
    });
    const credential: CredentialOf<'jwt'> = {
      type: 'jwt',
      algorithm: 'ES256',
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      ...{ key_id: null, issuer: 'me', subject: null, audience: null, lifetime_s: 60, claims: null },
    };
    const request = prepare(credential, url);
    expect(request.shown.headers).toEqual({ authorization: '[hidden]' });
    await request.send(signal);
    expect((await jwtVerify(seen[0] ?? '', publicKey)).payload).toMatchObject({ iss: 'me' });
    expect(secrets).toEqual(seen);
    const unreadable = prepare({ ...credential, key: 'nonsense' }, url).send(signal);
    await expect(unreadable).rejects.toMatchObject({ code: 'invalid_credential', retryable: false });
  });
});

describe('a client certificate', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.close();
    server?.closeAllConnections();
  });

  /** A server that accepts only clients with a certificate. */
  async function startMutual(): Promise<string> {
    const tls = { cert: TEST_CERTIFICATE, key: TEST_KEY, ca: TEST_CERTIFICATE };
    const mutual = createServer(
      { ...tls, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        if (request.url === '/away') {
          response.writeHead(302, { location: `https://127.0.0.2:${portOf(mutual)}/` }).end();
          return;
        }
        const { authorized } = request.socket as TLSSocket;
        response.writeHead(authorized ? 200 : 403).end();
      },
    );
    server = mutual;
    await new Promise<void>((resolve) => mutual.listen(0, '0.0.0.0', resolve));
    return `https://127.0.0.1:${portOf(mutual)}`;
  }

  const portOf = (listening: Server) => (listening.address() as AddressInfo).port;
  const credential: CredentialOf<'client_certificate'> = {
    type: 'client_certificate',
    certificate: TEST_CERTIFICATE,
    private_key: TEST_KEY.replaceAll('\n', ''),
    passphrase: null,
    authority: TEST_CERTIFICATE,
  };

  test('is shown to the server, whose own authority is trusted', async () => {
    const url = await startMutual();
    expect((await prepare(credential, url).send(signal)).status).toBe(200);
  });

  test('is trusted with a server only if its authority is given', async () => {
    const url = await startMutual();
    const failing = prepare({ ...credential, authority: null }, url).send(signal);
    await expect(failing).rejects.toMatchObject({ code: 'connection_failed' });
  });

  test('serves no connection of anybody else', async () => {
    const url = await startMutual();
    expect((await prepare(credential, url).send(signal)).status).toBe(200);
    const plain = { method: 'GET', url, timeoutMs: 60_000, maxResponseBytes: 100, maxRedirects: 0 };
    // Without the credential, the server's own authority isn't trusted, either: no connection is left to use.
    await expect(client.send(plain, signal)).rejects.toMatchObject({ code: 'connection_failed' });
  });

  test('is not shown to another host that it redirects to', async () => {
    const url = await startMutual();
    // Nothing of the credential applies there: the authority isn't trusted, either.
    const failing = prepare(credential, `${url}/away`).send(signal);
    await expect(failing).rejects.toMatchObject({ code: 'connection_failed' });
  });
});
