import {
  ADMIN_API,
  type AdminApi,
  ANY_FILE,
  type Body,
  type Endpoint,
  type EndpointName,
  EXACT_HEADER,
  isAtLeast,
  type Params,
  type Query,
  type ResponseBody,
  UNATTENDED_HEADER,
} from '@millrace/admin-api';
import { type JsonValue, stringifyJson } from '@millrace/engine';
import { compressAnswer } from '@millrace/http/compress-answer';
import { originOf } from '@millrace/http/origin';
import { prepareStaticBody, type StaticBody, sendStaticBody } from '@millrace/http/static-body';
import type { AuditActor } from '@millrace/identity/audit/store';
import type { Membership, Session } from '@millrace/identity/sessions/session';
import { insufficientRole } from '@millrace/identity/values/roles';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { refuseCrossSite } from './cross-site.ts';
import { createSessionEntry } from './session.ts';

export const ADMIN_BASE = '/api/admin';

/** `Value` on endpoints that require a session, null on those open to anyone. */
type OfSession<Name extends EndpointName, Value> = AdminApi[Name] extends { readonly access: 'anyone' }
  ? null
  : Value;
/** Handlers send streams and files themselves, piece by piece; for everything else they return the body, if there is one. */
type Handled<Name extends EndpointName> = AdminApi[Name] extends
  | { readonly events: object }
  | { readonly file: string }
  ? Promise<FastifyReply>
  : AdminApi[Name] extends { readonly response: object }
    ? Promise<ResponseBody<Name>>
    : Promise<void>;
type HasOrganisation<Name extends EndpointName> = Name extends `${string}/orgs/:org${string}`
  ? Membership
  : null;

/** A signed-in user as the actor of audit entries. */
export type UserActor = AuditActor & { readonly actor: 'user' };

/** A validated request to an endpoint of the admin API. */
export interface AdminCall<Name extends EndpointName> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly session: OfSession<Name, Session>;
  readonly actor: OfSession<Name, UserActor>;
  /** The organisation of the path and the caller's role in it; null if the path has none. */
  readonly organisation: HasOrganisation<Name>;
  readonly params: Params<Name>;
  readonly query: Query<Name>;
  readonly body: Body<Name>;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** An endpoint of the admin API, which declares who may call it. */
    admin?: Endpoint;
  }
  interface FastifyRequest {
    /** Set before the body is read on routes of the admin API that aren't open to anyone. */
    session: Session | null;
  }
}

/**
 * Registers an endpoint of the admin API. Session, role, cross-site and body checks are done before `handle` is called. Its result is the
 * body of a 200, undefined a 204; a stream or a file is sent by the handler itself.
 */
export function adminRoute<Name extends EndpointName>(
  app: FastifyInstance,
  { config }: Pick<AppDeps, 'config'>,
  name: Name,
  handle: (call: AdminCall<Name>) => Handled<Name>,
): void {
  const endpoint: Endpoint = ADMIN_API[name];
  const isSentByHandler = endpoint.events !== undefined || endpoint.file !== undefined;
  const [method, path] = name.split(' ') as [string, string];
  app.route({
    method,
    url: `${ADMIN_BASE}${path}`,
    config: {
      admin: endpoint,
      produces: producedBy(endpoint),
      ...(endpoint.file === ANY_FILE ? { sendsFile: true } : {}),
    },
    ...(endpoint.takesFlow === true ? { bodyLimit: config.limits.flowBodyBytes } : {}),
    ...(isSentByHandler || method !== 'GET' ? {} : { onSend: compressAnswer }),
    ...(endpoint.takesBatch === true ? { bodyLimit: config.limits.batchBodyBytes } : {}),
    schema: {
      hide: true,
      ...(endpoint.query === undefined ? {} : { querystring: endpoint.query }),
      ...(endpoint.body === undefined ? {} : { body: endpoint.body }),
    },
    handler: async (request, reply) => {
      const { session } = request;
      // Before anything is thrown: a conflict contains the other side's flow.
      if (endpoint.isExact === true) reply.header(EXACT_HEADER, '1');
      const response = await handle({
        request,
        reply,
        session: session as OfSession<Name, Session>,
        actor: (session === null ? null : actorOf(session, request)) as OfSession<Name, UserActor>,
        organisation: (session?.organisation ?? null) as HasOrganisation<Name>,
        params: request.params as Params<Name>,
        query: request.query as Query<Name>,
        body: request.body as Body<Name>,
      });
      // An awaited reply yields undefined once it has been sent, so the handler's result can't show this.
      if (isSentByHandler) return reply;
      if (response === undefined) return reply.code(204).send();
      if (endpoint.isFixed === true) return await sendFixed(request, reply, response);
      return response;
    },
  });
}

/** Serialised and compressed at the first request. */
const fixed = new WeakMap<object, Promise<StaticBody>>();

/** Browsers cache it and revalidate it. */
async function sendFixed(
  request: FastifyRequest,
  reply: FastifyReply,
  response: object,
): Promise<FastifyReply> {
  const known =
    fixed.get(response) ??
    prepareStaticBody('application/json; charset=utf-8', stringifyJson(response as JsonValue));
  fixed.set(response, known);
  return await sendStaticBody(request, reply.header('cache-control', 'private, no-cache'), await known);
}

function producedBy({ events, file }: Endpoint): readonly string[] {
  if (events !== undefined) return ['text/event-stream'];
  return file === undefined ? ['application/json'] : [file];
}

/**
 * The checks before the body of an admin request is read.
 * @throws ApiError `cross_site_request`, `signed_out`, `too_many_failed_authentications`, `insufficient_role`, `not_found` for the
 * organisation
 */
export type EnterAdmin = (endpoint: Endpoint, request: FastifyRequest) => Promise<Session | null>;

/** @param deps the database with the sessions, and the address of the admin area */
export function createAdminEntry({ db, config }: Pick<AppDeps, 'config' | 'db'>): EnterAdmin {
  const requireSession = createSessionEntry(db, config);
  return async ({ access, events }, request) => {
    refuseCrossSite(request, config.publicUrl);
    if (access === 'anyone') return null;
    // A page left open would otherwise keep an abandoned session from ever becoming idle.
    const countsAsUse = events === undefined && request.headers[UNATTENDED_HEADER] === undefined;
    const session = await requireSession(request, { countsAsUse });
    if (access === 'signed_in') return session;
    const role = session.organisation?.role ?? (session.isSystemAdmin ? 'system_admin' : 'viewer');
    if (!isAtLeast(role, access)) throw insufficientRole(access, role);
    return session;
  };
}

function actorOf({ userId, organisation }: Session, request: FastifyRequest): UserActor {
  return { actor: 'user', userId, memberId: organisation?.memberId ?? null, ...originOf(request) };
}
