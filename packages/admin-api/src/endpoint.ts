import type { Static, TSchema } from 'typebox';
import type { Role } from './roles.ts';

/**
 * Who may call an endpoint: anyone, whoever is signed in, or who has this role or a higher one in the organisation of
 * the path (`:org`); without an organisation in the path only `system_admin` makes sense.
 */
export type Access = 'anyone' | 'signed_in' | Role;

/**
 * Header of what a page asks by itself while nobody is at it: it does not count as use of the session, which so ends when
 * it was idle for too long although a page stands open.
 */
export const UNATTENDED_HEADER = 'millrace-unattended';

/**
 * Header of answers of endpoints that are marked `isExact`. The page knows it by this header because the schemas of all
 * endpoints would be more than the page itself.
 */
export const EXACT_HEADER = 'millrace-exact-numbers';

/** One endpoint of the admin API: what it takes, what it answers and to whom. */
export interface Endpoint {
  readonly access: Access;
  readonly summary: string;
  readonly query?: TSchema;
  /** JSON body; absent: none is read. */
  readonly body?: TSchema;
  /** The body of a 200; absent: 204 without one. */
  readonly answer?: TSchema;
  /** It streams server-sent events instead of answering once: the schema of each event's data, by the event's name. */
  readonly events?: { readonly [event: string]: TSchema };
  /** The answer is a file to be saved, of this media type. */
  readonly file?: string;
  /** It takes a workflow's `flow_data`, so that its body may be larger. */
  readonly takesFlow?: boolean;
  /**
   * Its answers, refusals or events hold what users or workflows wrote: they are read without rounding numbers that a
   * double cannot hold. The service tells the page so with `EXACT_HEADER`.
   */
  readonly isExact?: true;
}

/** Endpoints by method and path below `/api/admin`: `GET /orgs/:org/workflows`. */
export interface Endpoints {
  readonly [name: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`]: Endpoint;
}

/** Names of the parameters in a path: `/orgs/:org/workflows/:id` has `org` and `id`. */
type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

export type Params<Name extends string> = { readonly [P in ParamsOf<Name>]: string };
export type Query<E> = E extends { readonly query: infer S extends TSchema } ? Static<S> : undefined;
export type Body<E> = E extends { readonly body: infer S extends TSchema } ? Static<S> : undefined;
export type Answer<E> = E extends { readonly answer: infer S extends TSchema } ? Static<S> : undefined;
export type Events<E> = E extends { readonly events: infer M extends Readonly<Record<string, TSchema>> }
  ? { readonly [Event in keyof M]: Static<M[Event]> }
  : never;
