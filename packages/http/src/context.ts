import type { Scope } from '@millrace/admin-api';
import type { ErrorCode } from '@millrace/errors/errors';
import type { FormerIds } from '@millrace/identity/organisations/former-ids';
import type { KeyGrant } from '@millrace/runtime/start-permits';
import type { IdempotencyKey } from '@millrace/service/idempotency/store';
import type { FastifyRequest } from 'fastify';
import type { BodyRoom } from './body-budget.ts';

/** The caller of a request: what the API key grants at this moment. */
export interface Principal {
  readonly organisationId: number;
  /** `api_keys.id`. */
  readonly apiKeyId: number;
  /** The key's public 12 characters, which may be logged. */
  readonly keyId: string;
  /** All keys derived by rotation from one that was issued; idempotency keys belong to the family. */
  readonly familyId: string;
  /** The key's scopes, restricted to what its issuer's current role allows. */
  readonly scopes: readonly Scope[];
  /** The organisation's limit for all its keys together; null: none. */
  readonly requestsPerMinute: number | null;
  /** Ids that its organisation had in another instance; nearly always none. */
  readonly formerIds: readonly FormerIds[];
}

declare module 'fastify' {
  /** What a route declares about itself. One of `scope`, `admin` and `public` is required; registering the route throws otherwise. */
  interface FastifyContextConfig {
    /** The scope a key needs; the route then has a principal. */
    scope?: Scope;
    /**
     * May begin with a key from memory: before the route responds, it awaits {@link FastifyRequest.confirmKey}, or has stored something by a statement that
     * compares {@link FastifyRequest.grant}. Errors wait for it by themselves.
     */
    recallsKey?: boolean;
    /** Reachable without a key. */
    public?: boolean;
    /** Accepts an Idempotency-Key: a malformed one is refused, and {@link FastifyRequest.idempotencyKey} is set. `by_route`: by the route's own hook. */
    idempotent?: boolean | 'by_route';
    /** Accepts If-Match: 412 if it names another state. */
    conditional?: boolean;
    /** Authenticated by the `hash` in its path; rate limited per hash instead of per key. */
    webhook?: boolean;
    /** Of a webhook: accepted only if the settings of its trigger say so, and not announced as a method of the path. */
    byTrigger?: boolean;
    /** Authenticated by the `token` in its path; rate limited per token instead of per key; any JSON value is accepted as the body. */
    callback?: boolean;
    /** A request without a body counts as `{}`. */
    emptyBodyIsObject?: boolean;
    /** Media types of the response, for content negotiation; `application/json` if absent. */
    produces?: readonly string[];
    /** Request headers it reads besides those of the flags above, with their purpose; for the OpenAPI document. */
    readsHeaders?: { readonly [name: string]: string };
    /** Error codes this route can return besides those every route of its kind can; for the OpenAPI document. */
    problems?: readonly ErrorCode[];
    /** Its body is a file, read as it arrives: no memory is reserved for it. */
    takesFile?: boolean;
    /** Responds with a file, of whatever media type. */
    sendsFile?: boolean;
    /** Not part of the contract: marked in the OpenAPI document. */
    extension?: boolean;
  }

  interface FastifyRequest {
    /** Set before the body is read on routes with a scope. */
    principal: Principal | null;
    /** What its key granted when it was last looked up, if that is all there is to know; null if it has to be, or was, looked up for this request. */
    grant: KeyGrant | null;
    /**
     * Looks the key up if it hasn't been for this request; the same promise each time.
     * @throws ApiError as if it had been looked up at once
     */
    confirmKey: () => Promise<void>;
    /**
     * Set on routes authenticated by a secret in the path: stops counting the request, because its secret doesn't exist. Otherwise made-up
     * secrets would use up the room for real ones.
     */
    forgetSecret: (() => void) | null;
    /** Set on routes with a scope: counts this many more requests of the key. @throws ApiError `rate_limited` */
    countRequests: ((count: number) => void) | null;
    /** The memory reserved for the body; null without one. */
    bodyRoom: BodyRoom | null;
    /** Set after the body is parsed on `idempotent` routes; null if no key was sent. */
    idempotencyKey: IdempotencyKey | null;
  }
}

/**
 * The principal of a request to a route with a scope.
 * @throws Error if the route has none: a mistake in its declaration
 */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null)
    throw new Error(`${request.routeOptions.url} has no scope, so no principal`);
  return request.principal;
}
