import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** The provider's claims about a user. */
export interface OidcAccount {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

/** A real OpenID Connect provider on this machine, whose login page accepts anyone. */
export interface OidcProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Accounts by the text typed into the login field. */
  readonly accounts: Map<string, OidcAccount>;
  /**
   * Acts as the user in the browser, starting at the address that the service redirected to.
   * @returns where the browser is redirected back to
   */
  signIn(authorizationUrl: string, login: string): Promise<string>;
  /** Requests to its token endpoint, by their grant. */
  readonly grants: string[];
  /** Ends everything a person has approved so far: their refresh tokens are no longer accepted. */
  revokeAll(): Promise<void>;
  /** From now on requests to this path fail: with a status, or with a truncated response. */
  breakDown(path: string, how: number | 'cut'): void;
  stop(): Promise<void>;
}

/** @param redirectUris where it may lead back to, all of one origin */
export async function startOidcProvider(...redirectUris: [string, ...string[]]): Promise<OidcProvider> {
  const server = createServer({ keepAliveTimeout: 60_000 });
  const port = await listen(server);
  const issuer = `http://127.0.0.1:${port}`;
  const [clientId, clientSecret] = ['millrace', 'client secret of the test'.replaceAll(' ', '-')];
  const accounts = new Map<string, OidcAccount>();
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: redirectUris,
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      },
    ],
    features: { clientCredentials: { enabled: true } },
    // Each refresh token is used once; a second use ends everything that was approved with it.
    rotateRefreshToken: true,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    pkce: { required: () => true },
    cookies: { keys: ['cookies of the test'] },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...accounts.get(id) }) }),
  });
  provider.proxy = false;
  const grants: string[] = [];
  provider.on('grant.success', ({ oidc }) => void grants.push(String(oidc.params?.grant_type)));
  provider.on('grant.error', ({ oidc }) => void grants.push(`refused ${String(oidc.params?.grant_type)}`));
  const approved = new Set<string>();
  provider.on('refresh_token.saved', ({ grantId }) => void (grantId && approved.add(grantId)));
  const handle = provider.callback();
  const broken = new Map<string, number | 'cut'>();
  server.on('request', (request, response) => {
    const how = broken.get(request.url ?? '');
    if (how === undefined) void handle(request, response);
    else if (how === 'cut')
      response.writeHead(200, { 'content-length': '1000' }).write('{', () => response.destroy());
    else response.writeHead(how).end();
  });
  return {
    issuer,
    clientId,
    clientSecret,
    accounts,
    grants,
    async revokeAll() {
      for (const id of approved) {
        await provider.RefreshToken.revokeByGrantId(id);
        await provider.AccessToken.revokeByGrantId(id);
      }
    },
    signIn: (url, login) => walk(url, login, new URL(redirectUris[0])),
    breakDown: (path, how) => void broken.set(path, how),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const MAX_STEPS = 20;

/** Follows redirects and submits the forms of the provider's pages until it is redirected back. */
async function walk(start: string, login: string, back: URL): Promise<string> {
  const cookies = new Map<string, string>();
  let request: { url: string; form?: URLSearchParams } = { url: start };
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const { url, form } = request;
    if (new URL(url).origin === back.origin) return url;
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    request =
      location === null ? readForm(url, await response.text(), login) : { url: resolve(url, location) };
  }
  throw new Error(`the provider did not lead back to ${back.href}`);
}

function readForm(url: string, page: string, login: string): { url: string; form: URLSearchParams } {
  const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
  if (action === undefined) throw new Error(`the provider showed a page without a form: ${page}`);
  const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? '';
  return { url: resolve(url, action), form: new URLSearchParams({ prompt, login, password: 'any' }) };
}

function resolve(base: string, path: string): string {
  return new URL(path.replaceAll('&amp;', '&'), base).href;
}
