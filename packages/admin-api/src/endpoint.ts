import type { Static, TSchema } from 'typebox';
import type { Role } from './roles.ts';

/**
 * Who may call an endpoint: anyone, any signed-in user, or users with at least this role in the organisation of the path (`:org`); without
 * an organisation in the path only `system_admin` makes sense.
 */
export type Access = 'anyone' | 'signed_in' | Role;

/**
 * Header of automatic requests of an unattended page: they don't count as use of the session, so that it expires when idle even if a page
 * is left open.
 */
export const UNATTENDED_HEADER = 'millrace-unattended';

/**
 * Header of responses of endpoints marked `isExact`. The page relies on this header because the schemas of all endpoints would be larger
 * than the page itself.
 */
export const EXACT_HEADER = 'millrace-exact-numbers';

/** For {@link Endpoint.file}: whatever type the file has. */
export const ANY_FILE = '*/*';

/** One endpoint of the admin API: its parameters, its response and who may call it. */
export interface Endpoint {
  readonly access: Access;
  readonly summary: string;
  readonly query?: TSchema;
  /** JSON body; absent: none is read. */
  readonly body?: TSchema;
  /** The body of a 200; absent: 204 without a body. */
  readonly response?: TSchema;
  /** Streams server-sent events instead of one response: the schema of each event's data, by event name. */
  readonly events?: { readonly [event: string]: TSchema };
  /** The response is a download of this media type. */
  readonly file?: string;
  /** Accepts a workflow's `flow_data`, so its body may be larger. */
  readonly takesFlow?: boolean;
  /** Starts executions: refused while the service is overloaded. */
  readonly startsExecutions?: true;
  /** Accepts a batch of starts, which has a limit of its own. */
  readonly takesBatch?: boolean;
  /**
   * Its responses, errors or events contain values written by users or workflows: they are parsed without rounding numbers beyond a
   * double's precision. The service marks them with `EXACT_HEADER`.
   */
  readonly isExact?: true;
  /** Its response is the same for everybody as long as the process runs: it is written and compressed once, and browsers keep it (`ETag`). */
  readonly isFixed?: true;
}

/** Endpoints by method and path below `/api/admin`: `GET /orgs/:org/workflows`. */
export interface Endpoints {
  readonly [name: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`]: Endpoint;
}

/** Names of the path parameters: `/orgs/:org/workflows/:id` has `org` and `id`. */
type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

export type Params<Name extends string> = { readonly [P in ParamsOf<Name>]: string };
export type Query<E> = E extends { readonly query: infer S extends TSchema } ? Static<S> : undefined;
export type Body<E> = E extends { readonly body: infer S extends TSchema } ? Static<S> : undefined;
export type ResponseBody<E> = E extends { readonly response: infer S extends TSchema }
  ? Static<S>
  : undefined;
export type Events<E> = E extends { readonly events: infer M extends Readonly<Record<string, TSchema>> }
  ? { readonly [Event in keyof M]: Static<M[Event]> }
  : never;
