import type { ErrorCode } from '@millrace/errors/errors';
import type { Scope } from '@millrace/identity/values/roles';
import type { FastifyRequest } from 'fastify';

/** Who sends a request: what the API key stands for at this moment. */
export interface Principal {
  readonly organisationId: number;
  /** `api_keys.id`. */
  readonly apiKeyId: number;
  /** The key's public 12 characters; fit for logs. */
  readonly keyId: string;
  /** All keys that descend from one issue by rotation; idempotency keys belong to it. */
  readonly familyId: string;
  /** The key's scopes cut to what the role of its issuer allows now. */
  readonly scopes: readonly Scope[];
  /** What the organisation allows all its keys together; null: no limit of its own. */
  readonly requestsPerMinute: number | null;
}

declare module 'fastify' {
  /** What a route declares about itself. It must have one of `scope`, `admin` and `public`, else registering it throws. */
  interface FastifyContextConfig {
    /** The scope a key must have; the route then has a principal. */
    scope?: Scope;
    /** Reachable without a key. */
    public?: boolean;
    /** Takes an Idempotency-Key: a malformed one is refused, {@link FastifyRequest.idempotencyKey} is set. */
    idempotent?: boolean;
    /** Takes If-Match: 412 when it names another state. */
    conditional?: boolean;
    /** Authenticated by the `hash` in its path: limited per hash instead of per key. */
    webhook?: boolean;
    /** Authenticated by the `token` in its path: limited per token instead of per key; any JSON value is a body. */
    callback?: boolean;
    /** A request without a body counts as `{}`. */
    emptyBodyIsObject?: boolean;
    /** Media types of the answer, for content negotiation; `application/json` when absent. */
    produces?: readonly string[];
    /** Request headers it reads besides those of the flags above, and what for; for the OpenAPI document. */
    readsHeaders?: { readonly [name: string]: string };
    /** Error codes this route can answer besides those every route of its kind can; for the OpenAPI document. */
    problems?: readonly ErrorCode[];
    /** Not part of the contract: marked in the OpenAPI document. */
    extension?: boolean;
  }
}

/**
 * The principal of a request to a route with a scope.
 * @throws Error when the route has none: a mistake in the route's declaration
 */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null)
    throw new Error(`${request.routeOptions.url} has no scope, so no principal`);
  return request.principal;
}
