import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { createAccount, createBrowser, PASSWORD } from '@millrace/testing/accounts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { type Method, send } from '@millrace/testing/api';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let folder: string;
let secure: TestService;
let plain: TestService;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-pages-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(
    join(folder, 'index.html'),
    '<!doctype html><head><meta nonce="__CSP_NONCE__"></head><p>__CSP_NONCE__</p>',
  );
  await writeFile(join(folder, 'first-files.json'), JSON.stringify(FIRST_FILES));
  await writeFile(join(folder, 'assets/page-1.js'), SCRIPT);
  await writeFile(join(folder, 'assets/page-1.js.gz'), gzipSync(SCRIPT));
  await writeFile(join(folder, 'assets/page-1.js.br'), brotliCompressSync(SCRIPT));
  await writeFile(join(folder, 'secret.txt'), 'not an asset');
  const deps = { webPages: folder };
  secure = await startTestService({ runsWorker: false, deps });
  plain = await startTestService({ runsWorker: false, deps, config: { publicUrl: 'http://127.0.0.1' } });
});
afterAll(async () => {
  await secure.stop();
  await plain.stop();
  await rm(folder, { recursive: true, force: true });
});

const SCRIPT = 'export {};';
const WHO = 'preload /api/admin/me';
const STATE = 'preload /api/admin/state';
const NONE = { files: [], japanese: [] };
const FIRST_FILES = {
  '/sign-in': { ...NONE, files: ['assets/sign-in.js'], later: NONE },
  '/o/$org/workflows': {
    ...{ files: ['assets/list.js', 'assets/list.css'], japanese: ['assets/ja-list.js'], later: NONE },
  },
  '/o/$org/workflows/$id': { ...NONE, files: ['assets/editor.js'], later: NONE },
  '/o/$org/workflows/$id/runs': {
    ...{ files: ['assets/editor.js'], japanese: ['assets/ja-editor.js'] },
    later: { files: ['assets/runs.js'], japanese: ['assets/ja-runs.js'] },
  },
};

const PAGES = [
  '/',
  '/sign-in',
  '/setup',
  '/invitation',
  '/account',
  '/system',
  '/o/1',
  '/o/1/workflows/1',
  '/o/x/y/z',
];

/** What the policy of the built page must allow and forbid. */
const PAGE_POLICY = (nonce: string) => ({
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': `'self' 'nonce-${nonce}'`,
  'img-src': "'self' data: blob:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
});

/** Directives of a policy by name. */
function readPolicy(policy: string | string[] | null | undefined): { readonly [directive: string]: string } {
  return Object.fromEntries(
    String(policy ?? '')
      .split(';')
      .map((part) => {
        const [name = '', ...values] = part.trim().split(/\s+/);
        return [name, values.join(' ')];
      }),
  );
}

/** What the head of a page names, besides its own files. */
function linksIn(html: string): string[] {
  const links = html
    .slice(0, html.indexOf('</head>'))
    .matchAll(/<link rel="(\w+)"[^>]*href="([^"]+)"([^>]*)>/g);
  return [...links].map(
    ([, rel, href, more = '']) => `${more.includes('="low"') ? 'low ' : ''}${rel} ${href}`,
  );
}

describe('pages', () => {
  test.each(PAGES)("%s only runs scripts of this service, and can't be framed", async (path) => {
    const { status, headers, text } = await send(`${secure.url}${path}`, 'GET');
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    const nonce = /<p>([^<]+)<\/p>/.exec(text)?.[1] ?? '';
    expect(nonce).toMatch(/^[A-Za-z0-9+/]{22}==$/);
    expect(readPolicy(headers.get('content-security-policy'))).toEqual(PAGE_POLICY(nonce));
    const again = await send(`${secure.url}${path}`, 'GET');
    expect(again.text).not.toContain(nonce);
  });

  const LIST = ['modulepreload /assets/list.js', 'preload /assets/list.css'];
  const SIGN_IN = ['modulepreload /assets/sign-in.js'];
  test.each<[path: string, files: readonly string[], cookie?: string]>([
    ['/sign-in?next=%2F', SIGN_IN],
    ['/o/1/workflows?search=a', [WHO, ...LIST]],
    ['/o/1/workflows/7', [WHO, 'modulepreload /assets/editor.js']],
    ['/o/1/workflows/7/runs', [WHO, 'modulepreload /assets/editor.js', 'low modulepreload /assets/runs.js']],
    ['/o/1/workflows/7/more', [WHO]],
    // These lead on to other pages.
    ['/o/1', [WHO, ...LIST]],
    ['/o/1/', [WHO, ...LIST]],
    ['/', [STATE, ...SIGN_IN]],
    ['/', [STATE, ...SIGN_IN], 'millrace_device=x; other_millrace_session=x'],
    ['/', [STATE, WHO, ...LIST], 'a=b; __Host-millrace_session=x'],
    ['/', [STATE, WHO, ...LIST], 'millrace_session=x'],
    ['/setup', []],
  ])('%s names what its first view needs in its head', async (path, files, cookie = '') => {
    const { text } = await send(`${secure.url}${path}`, 'GET', { headers: { cookie } });
    expect(linksIn(text)).toEqual(files);
  });

  test('Japanese readers get the texts of both parts of a tab', async () => {
    const headers = { 'accept-language': 'ja' };
    const { text } = await send(`${secure.url}/o/1/workflows/7/runs`, 'GET', { headers });
    expect(linksIn(text)).toEqual([
      WHO,
      'modulepreload /assets/editor.js',
      'modulepreload /assets/ja-editor.js',
      'low modulepreload /assets/runs.js',
      'low modulepreload /assets/ja-runs.js',
    ]);
  });

  // As browsers name the languages of their readers.
  test.each([
    ['ja-JP', true],
    ['ja,en-US;q=0.9,en;q=0.8', true],
    ['fr,ja;q=0.9,en;q=0.8', true],
    ['en-US,en;q=0.9,ja;q=0.8', false],
    ['en;q=0.8,ja;q=0.9', true],
    ['fr', false],
    ['*', false],
    ['ja;q=0', false],
    ['', false],
    ['%,;q=x', false],
  ])('the head names Japanese texts for Japanese readers only: %j', async (languages, isJapanese) => {
    const path = '/o/1/workflows';
    const headers = { 'accept-language': languages };
    const { text, headers: sent } = await send(`${secure.url}${path}`, 'GET', { headers });
    const japanese = isJapanese ? ['modulepreload /assets/ja-list.js'] : [];
    expect(linksIn(text)).toEqual([WHO, ...LIST, ...japanese]);
    expect(sent.get('vary')).toBe('accept-language, cookie');
  });

  test('nothing from a URL is reflected in the page', async () => {
    const { text } = await send(`${secure.url}/o/<script>alert(1)</script>/"'%22?next=<b>#<i>`, 'GET');
    expect(text).not.toMatch(/script>|alert|<b>/);
  });
});

const EVERYWHERE = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

describe('a file of the page', () => {
  const get = (headers: Record<string, string>) => send(`${secure.url}/assets/page-1.js`, 'GET', { headers });

  test.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['gzip, br;q=0', 'gzip'],
    ['identity', null],
  ])('is sent compressed as the browser accepts it: %s', async (accepted, encoding) => {
    const { headers, text } = await get({ 'accept-encoding': accepted });
    expect([headers.get('content-encoding'), text]).toEqual([encoding, SCRIPT]);
    expect(headers.get('content-type')).toMatch(/^(text|application)\/javascript/);
    expect(headers.get('vary')?.toLowerCase()).toBe('accept-encoding');
  });

  test('is cached for a year, and not sent again when revalidated', async () => {
    const { headers } = await get({ 'accept-encoding': 'br' });
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    // fetch would add that it wants nothing from a cache.
    const asked = { 'accept-encoding': 'br', 'if-none-match': headers.get('etag') ?? '' };
    const again = await raw(secure, 'GET', '/assets/page-1.js', asked);
    expect([again.status, again.body]).toEqual([304, '']);
  });
});

describe('every kind of response', () => {
  test.each([
    ...PAGES,
    '/assets/page-1.js',
    '/assets/none.js',
    '/nothing',
    '/api/admin/state',
    '/api/admin/me',
    '/api/admin/nothing',
    '/api/v1/workflows',
    '/docs/',
    '/docs/guides',
    '/docs/guides/editor',
    '/docs/guides/style.css',
    '/docs/guides/images/editor-light.png',
    '/healthz',
  ])('%s keeps browsers from interpreting it', async (path) => {
    const { headers } = await send(`${secure.url}${path}`, 'GET');
    for (const [name, value] of Object.entries(EVERYWHERE))
      expect([name, headers.get(name)]).toEqual([name, value]);
    const policy = readPolicy(headers.get('content-security-policy'));
    expect([policy['default-src'], policy['frame-ancestors'], policy['base-uri']]).toEqual(
      Array(3).fill("'none'"),
    );
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  test.each(['/', '/api/v1/workflows', '/nothing'])(
    '%s sends HSTS if the public URL is https',
    async (path) => {
      const header = 'strict-transport-security';
      expect((await send(`${secure.url}${path}`, 'GET')).headers.get(header)).toMatch(/^max-age=\d{8}$/);
      expect((await send(`${plain.url}${path}`, 'GET')).headers.get(header)).toBeNull();
    },
  );

  test('of the admin API is never cached, not even when refused', async () => {
    const person = await createPerson(secure, 'viewer');
    const headers = { cookie: person.cookie, 'sec-fetch-site': 'same-origin' };
    for (const [method, path, status] of [
      ['GET', 'me', 200],
      ['HEAD', 'me', 200],
      ['GET', `orgs/${person.organisationId}/workflows`, 200],
      ['GET', `orgs/${person.organisationId}/audit`, 403],
      ['GET', 'orgs/1e3/workflows', 404],
      ['POST', 'sign-in', 422],
    ] as readonly [Method, string, number][]) {
      const answer = await send(`${secure.url}/api/admin/${path}`, method, {
        headers,
        ...(method === 'POST' ? { body: {} } : {}),
      });
      expect([path, answer.status, answer.headers.get('cache-control')]).toEqual([path, status, 'no-store']);
    }
  });

  test('no path leads out of the assets folder', async () => {
    for (const path of [
      '../secret.txt',
      '..%2fsecret.txt',
      '%2e%2e/secret.txt',
      '..%5csecret.txt',
      '%2e%2e%2fsecret.txt',
    ]) {
      const text = await raw(secure, 'GET', `/assets/${path}`, {});
      expect(text.body).not.toContain('not an asset');
      expect(text.status).toBeGreaterThanOrEqual(400);
    }
  });
});

describe('cookies', () => {
  async function signIn(service: TestService): Promise<readonly string[]> {
    const person = await createAccount(service, 'viewer');
    const body = { email: person.email, password: PASSWORD };
    return (await createBrowser(service).call('POST /sign-in', { body })).headers.getSetCookie();
  }

  test('over https are bound to this host, and never readable by scripts', async () => {
    for (const cookie of await signIn(secure))
      expect(cookie).toMatch(
        /^__Host-millrace_\w+=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+; Secure$/,
      );
    for (const cookie of await signIn(plain))
      expect(cookie).toMatch(/^millrace_\w+=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/);
  });

  test('are cleared when the session ends', async () => {
    const person = await createPerson(secure, 'viewer');
    const { headers } = await person.call('POST /sign-out');
    expect(headers.getSetCookie()).toEqual([
      '__Host-millrace_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure',
    ]);
  });
});

interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A request sent verbatim: fetch would normalise its path and headers. */
function raw(
  service: TestService,
  method: string,
  path: string,
  headers: { readonly [name: string]: string },
  body = '',
): Promise<RawAnswer> {
  const sent = { ...(body === '' ? {} : { 'content-type': 'application/json' }), ...headers };
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const request = httpRequest({
    host: '127.0.0.1',
    port: service.port,
    method,
    path,
    headers: sent,
    agent: false,
  });
  request.on('error', reject).on('response', (response) => {
    let text = '';
    response.on('data', (chunk) => {
      text += String(chunk);
    });
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
    );
  });
  request.end(body);
  return promise;
}

// The Accept headers of browsers opening an address, and of a page requesting data.
const OPENS = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8';

describe('an unknown URL', () => {
  test.each([
    ['/workflow', { accept: OPENS, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
    // Over http to another machine, browsers don't send Sec-Fetch-Mode.
    ['/acount?tab=1', { accept: OPENS }],
    ['/sign-in/now', { accept: 'Text/HTML' }],
    ['/apis', { accept: OPENS }],
    ['/%3Cscript%3E', { accept: OPENS }],
  ])('%s opened in a browser is a page that says so', async (path, sent) => {
    const { status, headers, body } = await raw(secure, 'GET', path, sent);
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      404,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    const nonce = /<p>([^<]+)<\/p>/.exec(body)?.[1] ?? '';
    expect(body).toBe(`<!doctype html><head><meta nonce="${nonce}"></head><p>${nonce}</p>`);
    expect(readPolicy(headers['content-security-policy'])).toEqual(PAGE_POLICY(nonce));
    expect(headers).toMatchObject(EVERYWHERE);
  });

  test.each<[string, string, { readonly [name: string]: string }]>([
    ['GET', '/workflow', {}],
    ['GET', '/workflow', { accept: '*/*' }],
    ['GET', '/workflow', { accept: 'application/json' }],
    ['GET', '/workflow', { accept: 'text/html;q=0, application/json' }],
    ['GET', '/workflow', { accept: OPENS, 'sec-fetch-mode': 'cors' }],
    ['GET', '/favicon.ico', { accept: 'image/avif,image/*,*/*;q=0.8', 'sec-fetch-mode': 'no-cors' }],
    ['POST', '/workflow', { accept: OPENS, 'sec-fetch-mode': 'navigate' }],
    ['GET', '/api', { accept: OPENS, 'sec-fetch-mode': 'navigate' }],
    ['GET', '/api/v1/workflow', { accept: OPENS, 'sec-fetch-mode': 'navigate' }],
    ['GET', '/api/admin/nothing', { accept: OPENS, 'sec-fetch-mode': 'navigate' }],
    ['GET', '/webhooks/5f2a', { accept: OPENS, 'sec-fetch-mode': 'navigate' }],
    ['GET', '/healthz/live', { accept: OPENS, 'sec-fetch-mode': 'navigate' }],
  ])('%s %s by a program (%j) is a problem as JSON', async (method, path, headers) => {
    const answer = await raw(secure, method, path, headers);
    expect([answer.status, answer.headers['content-type'], JSON.parse(answer.body)]).toEqual([
      404,
      'application/problem+json',
      expect.objectContaining({ code: 'not_found' }),
    ]);
  });

  test('is JSON for a browser, too, if no page was built', async () => {
    const bare = await startTestService({ runsWorker: false });
    const { status, body } = await raw(bare, 'GET', '/workflow', { accept: OPENS });
    expect([status, JSON.parse(body)]).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
    await bare.stop();
  });
});

describe('what clients claim is not trusted', () => {
  let admin: TestPerson;
  beforeAll(async () => {
    admin = await createPerson(secure, 'org_admin');
  });

  test('Host and X-Forwarded-Host appear in no URL that is handed out', async () => {
    const headers = {
      cookie: admin.cookie,
      'sec-fetch-site': 'same-origin',
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      forwarded: 'host=evil.example',
    };
    const path = `/api/admin/orgs/${admin.organisationId}`;
    const invited = await raw(secure, 'POST', `${path}/invitations`, headers, '{"role":"viewer"}');
    expect([invited.status, invited.body]).toEqual([
      200,
      expect.stringContaining('https://flows.example/invitation#'),
    ]);
    const key = '{"name":"x","scopes":["workflows:read"],"expires_at":null}';
    for (const answer of [invited, await raw(secure, 'POST', `${path}/keys`, headers, key)])
      expect(JSON.stringify(answer)).not.toContain('evil');
  });

  // Browsers send Sec-Fetch-Site over https and to this machine only: otherwise only Origin identifies the page.
  test.each([
    ['https', 'flows.example', 'https://flows.example', 204],
    ['https', 'FLOWS.example:443', 'https://flows.example', 204],
    // Behind a proxy that forwards another name of the same service.
    ['https', 'alias.example', 'https://alias.example', 204],
    ['https', 'alias.example:8443', 'https://alias.example:8443', 204],
    ['https', 'flows.example', 'https://evil.example', 403],
    ['https', 'flows.example', 'http://flows.example', 403],
    ['https', 'alias.example', 'http://alias.example', 403],
    ['https', 'alias.example', 'https://alias.example:8443', 403],
    ['https', 'alias.example', 'null', 403],
    ['https', 'evil.example/@alias.example', 'https://evil.example', 403],
    ['https', 'user@alias.example', 'https://alias.example', 403],
    ['http', '10.0.0.5:8080', 'http://10.0.0.5:8080', 204],
    ['http', 'flows.local', 'http://flows.local', 204],
    // The proxy uses https although the public URL doesn't: safer than required.
    ['http', 'flows.local', 'https://flows.local', 204],
    ['http', '10.0.0.5:8080', 'http://10.0.0.5', 403],
    ['http', '10.0.0.5:8080', 'http://10.0.0.5:9090', 403],
    ['http', '10.0.0.5:8080', 'ftp://10.0.0.5:8080', 403],
    ['http', 'flows.local', 'null', 403],
  ])('a public URL by %s, asked at %s by a page of %s: %i', async (scheme, host, origin, expected) => {
    const service = scheme === 'https' ? secure : plain;
    const person = await createPerson(service, 'viewer');
    const headers = { cookie: person.cookie, host, origin };
    const { status } = await raw(service, 'PATCH', '/api/admin/me', headers, '{"name":"Ada"}');
    expect(status).toBe(expected);
  });

  test('X-Forwarded-For changes neither the logged address nor the limit of failed sign-ins', async () => {
    const service = await startTestService({ runsWorker: false, limits: { failedAuthPerMinutePerIp: 3 } });
    const person = await createAccount(service, 'org_admin');
    const statuses: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      const headers = {
        'sec-fetch-site': 'same-origin',
        'x-forwarded-for': `203.0.113.${index}`,
        'x-real-ip': '203.0.113.9',
      };
      const body = { email: person.email, password: 'not the password' };
      statuses.push((await send(`${service.url}/api/admin/sign-in`, 'POST', { headers, body })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    const rows = await service.database.db.query<{ source_ip: string }>(
      `SELECT DISTINCT source_ip FROM audit_log WHERE action = 'user.sign_in_failed'`,
    );
    expect(rows).toEqual([{ source_ip: '127.0.0.1' }]);
    expect(service.logs.join('\n')).not.toContain('203.0.113');
    await service.stop();
  });

  test('requests of one session are limited, wherever they come from', async () => {
    const service = await startTestService({ runsWorker: false, limits: { requestsPerMinutePerKey: 3 } });
    const [person, other] = [await createPerson(service, 'viewer'), await createPerson(service, 'viewer')];
    const statuses = [];
    for (let index = 0; index < 4; index += 1) {
      const headers = { 'x-forwarded-for': `203.0.113.${index}` };
      statuses.push((await person.call('GET /me', { headers })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await other.call('GET /me')).status).toBe(200);
    await service.stop();
  });
});
