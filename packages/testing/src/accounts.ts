import type { EndpointName, Role } from '@millrace/admin-api';
import { hashPassword } from '@millrace/identity/users/passwords';
import { TOTP } from 'otpauth';
import { type AdminAnswer, createAdminClient, createPerson, type TestPerson } from './admin.ts';
import { type ApiAnswer, send } from './api.ts';
import type { TestService } from './service.ts';

export const PASSWORD = 'correct horse battery';

let hashed: Promise<string> | undefined;

/** A user who can sign in with {@link PASSWORD}. */
export async function createAccount(
  service: TestService,
  role: Role,
  options: { readonly organisationId?: number; readonly email?: string } = {},
): Promise<TestPerson> {
  const person = await createPerson(service, role, options);
  hashed ??= hashPassword(PASSWORD);
  await service.database.db.query('UPDATE users SET password_hash = $2 WHERE id = $1', [
    person.userId,
    await hashed,
  ]);
  return person;
}

/** A browser: stores cookies and sends them back. */
export interface Browser {
  readonly cookies: Map<string, string>;
  call: ReturnType<typeof createAdminClient>;
  /** Navigates to a page of the service from another site; redirects aren't followed. */
  go(path: string, headers?: { readonly [name: string]: string }): Promise<ApiAnswer>;
}

export function createBrowser(service: Pick<TestService, 'url'>): Browser {
  const cookies = new Map<string, string>();
  const header = (): string => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const keep = (headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      const [, name = '', value = '', rest = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? [];
      if (/Max-Age=0\b/.test(rest)) cookies.delete(name);
      else cookies.set(name, value);
    }
  };
  const call = async (name: EndpointName, ...rest: readonly unknown[]): Promise<unknown> => {
    const client = createAdminClient(service.url, cookies.size === 0 ? null : header()) as (
      name: EndpointName,
      ...rest: readonly unknown[]
    ) => Promise<AdminAnswer<EndpointName>>;
    const answer = await client(name, ...rest);
    keep(answer.headers);
    return answer;
  };
  return {
    cookies,
    call: call as Browser['call'],
    async go(path, headers = {}) {
      const answer = await send(`${service.url}${path}`, 'GET', {
        headers: { 'sec-fetch-site': 'cross-site', cookie: header(), ...headers },
      });
      keep(answer.headers);
      return answer;
    },
  };
}

export const SESSION_COOKIE = '__Host-millrace_session';

/** The code shown by the app, `steps` later than now. */
export function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 });
}

/** Actions in an organisation's audit log, oldest first. */
export async function auditActions(service: TestService, organisationId: number): Promise<string[]> {
  const rows = await service.database.db.query<{ action: string }>(
    'SELECT action FROM audit_log WHERE organisation_id = $1 ORDER BY id',
    [organisationId],
  );
  return rows.map((row) => row.action);
}
