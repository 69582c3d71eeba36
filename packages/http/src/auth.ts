import { timingSafeEqual } from 'node:crypto';
import type { Scope } from '@millrace/admin-api';
import { coalesce } from '@millrace/database/coalesce';
import type { Database } from '@millrace/database/database';
import { remember } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { createFormerUseGate, recordFormerUses } from '@millrace/identity/api-keys/former-uses';
import { hashSecret, type ParsedApiKey, parseApiKey } from '@millrace/identity/api-keys/key';
import { recordScopeViolations, type ScopeViolation } from '@millrace/identity/api-keys/scope-violations';
import {
  findKeysForAuthentication,
  type KeyForAuthentication,
  recordAuthenticationFailures,
  recordSuccesses,
} from '@millrace/identity/api-keys/store';
import type { FormerIds } from '@millrace/identity/organisations/former-ids';
import { effectiveScopes } from '@millrace/identity/values/roles';
import { type Message, message } from '@millrace/messages';
import type { KeyGrant } from '@millrace/runtime/start-permits';
import type { FastifyRequest } from 'fastify';
import { createAttemptLimit } from './attempt-limit.ts';
import { readBearer } from './bearer.ts';
import type { Principal } from './context.ts';
import { createRateLimiter, type RateLimiter, sourceOf } from './rate-limit.ts';
import { redactUrl } from './redact.ts';

/** The same message for malformed, unknown and wrong keys, so that they are indistinguishable. */
const UNUSABLE_KEY = message('api.key_unusable');

/** Requests whose keys are looked up or counted in one statement. */
const MAX_PER_BATCH = 500;

export interface Authenticator {
  /**
   * The principal of the request's key, with the scope required by the route.
   * @throws ApiError `invalid_key`, `key_expired`, `key_revoked`, `key_locked` (401), `too_many_failed_authentications` (429),
   * `insufficient_scope` (403), `rate_limited` (429) for a key that keeps requesting what it has no scope for
   */
  authenticate(request: FastifyRequest, scope: Scope): Promise<Principal>;
  /**
   * The same from memory, for a key that was valid for the scope when it was last used here. Only the database knows whether it still is:
   * whatever is responded, it must be asked before, or in the same statement with the grant.
   * @returns null if it has to be looked up first
   */
  recall(request: FastifyRequest, scope: Scope): RecalledKey | null;
  /**
   * Checks during a streaming response that the principal's key is still valid for the scope: no request is made, so nothing counts as a
   * use or as a failure.
   * @throws ApiError as {@link authenticate} does
   */
  recheck(principal: Principal, scope: Scope): Promise<void>;
  /** The database couldn't be reached: what answers next may be another server, of which the snapshots of grants say nothing. */
  forget(): void;
}

/** A key as it was when it was last looked up. */
export interface RecalledKey {
  readonly principal: Principal;
  /** Null if it has to be looked up for other reasons, too: its use is to be recorded. */
  readonly grant: KeyGrant | null;
}

/**
 * Checks API keys against the database for every request, or has the statement check them that stores what they start, so that revoking, locking and
 * lowering a role take effect at once. Concurrent requests share the statements for look-ups and counts.
 * @param failuresPerMinute failed authentications per source address, and requests beyond its scopes per key; 0 disables the limits
 */
export function createAuthenticator(db: Database, failuresPerMinute: number): Authenticator {
  const failures = createAttemptLimit(failuresPerMinute);
  // Separate from the key's limit: requests within its scopes keep working.
  const violations = createRateLimiter(failuresPerMinute);
  const lookUp = coalesce({
    run: (keyIds: readonly string[]) => lookUpKeys(db, keyIds),
    maxItems: MAX_PER_BATCH,
  });
  const countFailure = inBatches(db, recordAuthenticationFailures);
  const noteSuccess = inBatches(db, recordSuccesses);
  const noteViolation = inBatches(db, recordScopeViolations);
  const noteFormerUse = inBatches(db, recordFormerUses);
  const isFormerUseDue = createFormerUseGate();
  const lastUses = new Map<string, LastUse>();

  async function noteUse(key: KeyForAuthentication, sourceIp: string): Promise<void> {
    if (key.success_due) await noteSuccess({ id: key.id, sourceIp });
    const use = { id: key.id, sourceIp };
    if (key.is_rotated && isFormerUseDue(use)) await noteFormerUse(use);
  }

  function noteLastUse(key: KeyForAuthentication, principal: Principal, askedAt: number): void {
    const known = lastUses.get(key.key_id);
    // So that starts shortly after one another share a permit.
    if (known !== undefined && askedAt - known.askedAt < SHARED_MS && isSame(known.principal, principal))
      return;
    const dueInMs = key.success_due ? USE_INTERVAL_MS : Math.min(USE_INTERVAL_MS, key.success_due_in_ms ?? 0);
    const use = {
      secret_hash: key.secret_hash,
      principal,
      grant: {
        organisationId: key.organisation_id,
        validUntil: key.expires_at,
        snapshot: key.snapshot,
      },
      askedAt,
      // Until it is replaced, a rotated key's addresses are recorded.
      grantedUntil: key.is_rotated ? askedAt : askedAt + dueInMs,
    };
    remember(lastUses, key.key_id, use, MAX_REMEMBERED);
  }

  async function checkKey(request: FastifyRequest): Promise<KeyForAuthentication> {
    const header = readBearer(request.raw.rawHeaders);
    if (header.kind === 'absent') {
      failures.begin(sourceOf(request.ip));
      throw unauthorised('invalid_key', message('api.key_absent'), 'Bearer realm="millrace"');
    }
    const parsed = header.kind === 'token' ? parseApiKey(header.token) : null;
    const hash = parsed === null ? null : hashSecret(parsed.secret);
    const key = parsed === null ? undefined : await lookUp(parsed.keyId);
    if (parsed === null || hash === null || !secretMatches(parsed, hash, key) || key === undefined) {
      failures.begin(sourceOf(request.ip));
      if (key !== undefined) {
        await countFailure({ id: key.id, sourceIp: request.ip, requestId: request.id });
      }
      throw invalidToken('invalid_key', UNUSABLE_KEY);
    }
    return key;
  }

  return {
    async authenticate(request, scope) {
      const askedAt = performance.now();
      const key = await checkKey(request);
      // Nothing is begun for a key that was refused.
      if (key.state !== 'valid') lastUses.delete(key.key_id);
      refuseUnlessValid(key);
      await noteUse(key, request.ip);
      const principal = toPrincipal(key);
      noteLastUse(key, principal, askedAt);
      if (!principal.scopes.includes(scope)) {
        refuseViolations(violations, principal.keyId);
        await noteViolation(violationOf(request, principal, scope));
        throw insufficientScope(scope);
      }
      return principal;
    },
    recall(request, scope) {
      const header = readBearer(request.raw.rawHeaders);
      const parsed = header.kind === 'token' ? parseApiKey(header.token) : null;
      const known = parsed === null ? undefined : lastUses.get(parsed.keyId);
      if (parsed === null || known === undefined || !known.principal.scopes.includes(scope)) return null;
      // Those of a moved organisation translate the ids of the request.
      if (!secretMatches(parsed, hashSecret(parsed.secret), known) || known.principal.formerIds.length > 0)
        return null;
      return {
        principal: known.principal,
        grant: performance.now() < known.grantedUntil ? known.grant : null,
      };
    },
    async recheck({ keyId }, scope) {
      const key = await lookUp(keyId);
      if (key === undefined) throw invalidToken('invalid_key', UNUSABLE_KEY);
      refuseUnlessValid(key);
      if (!toPrincipal(key).scopes.includes(scope)) throw insufficientScope(scope);
    },
    forget: () => lastUses.clear(),
  };
}

function inBatches<Item>(
  db: Database,
  record: (db: Database, batch: readonly Item[]) => Promise<unknown>,
): (item: Item) => Promise<unknown> {
  return coalesce({
    run: async (batch: readonly Item[]) => {
      await record(db, batch);
      return batch;
    },
    maxItems: MAX_PER_BATCH,
  });
}

async function lookUpKeys(
  db: Database,
  keyIds: readonly string[],
): Promise<(KeyForAuthentication | undefined)[]> {
  const keys = await findKeysForAuthentication(db, [...new Set(keyIds)]);
  const byId = new Map(keys.map((key) => [key.key_id, key]));
  return keyIds.map((keyId) => byId.get(keyId));
}

/** A key that was valid when it was last looked up. Its secret never changes. */
interface LastUse {
  readonly secret_hash: Buffer;
  readonly principal: Principal;
  readonly grant: KeyGrant;
  /** In monotonic milliseconds. */
  readonly askedAt: number;
  /** Until when a use needn't be recorded. */
  readonly grantedUntil: number;
}

/** How often a use of a key is recorded. */
const USE_INTERVAL_MS = 60_000;

/** How long what is remembered of a key isn't replaced by the same. */
const SHARED_MS = 100;

function isSame(a: Principal, b: Principal): boolean {
  return a.scopes.join() === b.scopes.join() && a.requestsPerMinute === b.requestsPerMinute;
}

/** Keys that a process remembers; the one remembered longest is forgotten first. */
const MAX_REMEMBERED = 10_000;

const NO_HASH = Buffer.alloc(32);

/** Also hashes and compares for unknown keys, so that both take the same time. */
function secretMatches(
  parsed: ParsedApiKey,
  hash: Buffer,
  key: { readonly secret_hash: Buffer } | undefined,
): boolean {
  const equal = timingSafeEqual(hash, key?.secret_hash ?? NO_HASH);
  return equal && parsed.checksumValid && key !== undefined;
}

function refuseUnlessValid(key: KeyForAuthentication): void {
  switch (key.state) {
    case 'valid':
      return;
    case 'expired':
      throw invalidToken('key_expired', message('api.key_expired'));
    case 'revoked':
      throw invalidToken('key_revoked', message('api.key_revoked'));
    case 'locked':
      throw invalidToken('key_locked', message('api.key_locked'));
  }
}

const NO_FORMER_IDS: readonly FormerIds[] = [];

function toPrincipal(key: KeyForAuthentication): Principal {
  return {
    organisationId: key.organisation_id,
    apiKeyId: key.id,
    keyId: key.key_id,
    familyId: key.family_id,
    scopes: effectiveScopes(key.scopes, key.issuer),
    requestsPerMinute: key.requests_per_minute,
    formerIds: key.former_ids === null ? NO_FORMER_IDS : (JSON.parse(key.former_ids) as FormerIds[]),
  };
}

/** @throws ApiError `rate_limited` with Retry-After */
function refuseViolations(violations: RateLimiter, keyId: string): void {
  const decision = violations.take(keyId);
  if (decision === null || decision.allowed) return;
  throw new ApiError('rate_limited', message('api.rate_limited_scope', { limit: decision.limit }), {
    headers: { 'retry-after': String(decision.resetSeconds) },
  });
}

function violationOf(
  request: FastifyRequest,
  { organisationId, apiKeyId }: Principal,
  scope: Scope,
): ScopeViolation {
  const { method, ip: sourceIp, id: requestId } = request;
  return {
    organisationId,
    apiKeyId,
    scope,
    method,
    path: redactUrl(request.originalUrl),
    sourceIp,
    requestId,
  };
}

type KeyErrorCode = 'invalid_key' | 'key_expired' | 'key_revoked' | 'key_locked';

function unauthorised(code: KeyErrorCode, explanation: Message, challenge: string): ApiError {
  return new ApiError(code, explanation, { headers: { 'www-authenticate': challenge } });
}

function invalidToken(code: KeyErrorCode, explanation: Message): ApiError {
  return unauthorised(code, explanation, 'Bearer realm="millrace", error="invalid_token"');
}

function insufficientScope(scope: Scope): ApiError {
  return new ApiError('insufficient_scope', message('api.scope_missing', { scope }), {
    headers: {
      'www-authenticate': `Bearer realm="millrace", error="insufficient_scope", scope="${scope}"`,
    },
  });
}
