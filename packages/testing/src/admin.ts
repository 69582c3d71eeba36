import { randomUUID } from 'node:crypto';
import {
  ADMIN_API,
  type AdminApi,
  type Body,
  type Endpoint,
  type EndpointName,
  type Params,
  type Query,
  type ResponseBody,
  type Role,
} from '@millrace/admin-api';
import { addMember } from '@millrace/identity/members/store';
import { insertSession } from '@millrace/identity/sessions/store';
import { hashToken, makeSessionToken } from '@millrace/identity/sessions/tokens';
import { expect } from 'vitest';
import { checkAnswer } from './admin-answers.ts';
import { type ApiAnswer, type Method, send } from './api.ts';
import type { TestService } from './service.ts';

/** Options of a call to the admin API; only those its endpoint accepts. */
export type CallOptions<Name extends EndpointName> = {
  readonly headers?: { readonly [name: string]: string };
} & ([keyof Params<Name>] extends [never]
  ? unknown
  : { readonly params: { readonly [P in keyof Params<Name>]: string | number } }) &
  (Query<Name> extends undefined ? unknown : { readonly query?: Query<Name> }) &
  (Body<Name> extends undefined ? unknown : { readonly body: Body<Name> });

export interface AdminAnswer<Name extends EndpointName> extends ApiAnswer {
  /** The response to a successful call; see `json` for errors. */
  readonly data: ResponseBody<Name>;
}

/** Calls the admin API as one person. Fails the test if a 200 doesn't match the endpoint's schema. */
export type AdminClient = <Name extends EndpointName>(
  name: Name,
  ...options: Record<never, never> extends CallOptions<Name> ? [CallOptions<Name>?] : [CallOptions<Name>]
) => Promise<AdminAnswer<Name>>;

/** A signed-in user. */
export interface TestPerson {
  readonly userId: number;
  readonly email: string;
  readonly organisationId: number;
  /** `members.id` in that organisation. */
  readonly memberId: number;
  /** Value of the Cookie header. */
  readonly cookie: string;
  readonly call: AdminClient;
}

/** A client with this cookie; null: not signed in. */
export function createAdminClient(url: string, cookie: string | null): AdminClient {
  const call = async (name: EndpointName, options: LooseOptions = {}): Promise<unknown> => {
    const [method, path] = name.split(' ') as [Method, string];
    const endpoint: Endpoint = ADMIN_API[name as keyof AdminApi];
    const answer = await send(`${url}/api/admin${fillIn(path, options)}`, method, {
      headers: {
        'sec-fetch-site': 'same-origin',
        ...(cookie === null ? {} : { cookie }),
        ...options.headers,
      },
      ...('body' in options ? { body: options.body } : {}),
    });
    if (answer.status === 200 && endpoint.response !== undefined)
      checkAnswer(name, endpoint.response, answer.json);
    if (answer.status === 200)
      expect(endpoint.response ?? endpoint.events ?? endpoint.file, name).toBeDefined();
    return { ...answer, data: answer.json };
  };
  return call as AdminClient;
}

interface LooseOptions {
  readonly headers?: { readonly [name: string]: string };
  readonly params?: { readonly [name: string]: string | number };
  readonly query?: { readonly [name: string]: unknown };
  readonly body?: unknown;
}

function fillIn(path: string, { params = {}, query = {} }: LooseOptions): string {
  const filled = path.replace(/:(\w+)/g, (_match, name: string) => encodeURIComponent(params[name] ?? ''));
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]));
  return pairs.length === 0 ? filled : `${filled}?${search.toString()}`;
}

export interface PersonOptions {
  /** Default: a new one. */
  readonly organisationId?: number;
  readonly email?: string;
}

/** A service in this process, or what a test knows of one in a process of its own. */
export interface PersonHost {
  readonly url: string;
  readonly database: { readonly db: TestService['database']['db'] };
  readonly deps: { readonly config: { readonly publicUrl: string } };
  createOrganisation(): Promise<number>;
}

/** A signed-in user with this role. */
export async function createPerson(
  service: PersonHost,
  role: Role,
  options: PersonOptions = {},
): Promise<TestPerson> {
  const { db } = service.database;
  const organisationId = options.organisationId ?? (await service.createOrganisation());
  const email = options.email ?? `${role}-${randomUUID()}@example.com`;
  const member = await addMember(db, organisationId, email, role, { actor: 'operator' });
  const [user] = await db.query<{ id: number }>(
    `INSERT INTO users (email, name, email_verified_at) VALUES ($1, $2, now())
     ON CONFLICT (email) WHERE removed_at IS NULL DO UPDATE SET name = excluded.name RETURNING id`,
    [email, `Test ${role}`],
  );
  const userId = user?.id ?? 0;
  const token = await makeSessionToken(db);
  await insertSession(db, {
    userId,
    tokenHash: hashToken(token),
    lifetimeMs: 3_600_000,
    sourceIp: '127.0.0.1',
    userAgent: 'test',
  });
  const secure = service.deps.config.publicUrl.startsWith('https:');
  const cookie = `${secure ? '__Host-' : ''}millrace_session=${token}`;
  return {
    userId,
    email,
    organisationId,
    memberId: member.id,
    cookie,
    call: createAdminClient(service.url, cookie),
  };
}
