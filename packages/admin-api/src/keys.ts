import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { Closed, Id, Nullable, PageOf, pageQuery, Timestamp } from './forms.ts';

/** Permissions of an API key. */
export const SCOPES = ['workflows:read', 'workflows:write', 'executions:execute', 'executions:read'] as const;
export type Scope = (typeof SCOPES)[number];
const Scopes = Type.Array(Type.Enum([...SCOPES], { type: 'string' }));

/**
 * `expiring`: valid for less than two more weeks; `rotated`: valid until its overlap ends. Only `valid`, `expiring` and `rotated` keys
 * work.
 */
export const KEY_STATES = ['valid', 'expiring', 'rotated', 'locked', 'expired', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** Whose role restricts the key: that of the issuing member, none (`operator`), or that of a former member (`removed`). */
export const KEY_ISSUERS = ['viewer', 'editor', 'org_admin', 'system_admin', 'operator', 'removed'] as const;
export type KeyIssuer = (typeof KEY_ISSUERS)[number];

/** An API key without its secret. */
export const ApiKey = Closed({
  id: Id,
  /** The part of it that may appear in logs. */
  key_id: Type.String(),
  name: Type.String(),
  last_four: Type.String(),
  state: Type.Enum([...KEY_STATES], { type: 'string' }),
  scopes: Scopes,
  /** Scopes after restriction by the issuer's role. */
  effective_scopes: Scopes,
  issuer: Type.Enum([...KEY_ISSUERS], { type: 'string' }),
  issued_by: Nullable(Type.String()),
  created_at: Timestamp,
  expires_at: Nullable(Timestamp),
  /** When it expires: its expiry, or the end of the overlap after its rotation. */
  valid_until: Nullable(Timestamp),
  rotated_at: Nullable(Timestamp),
  /** The replacement of a rotated key. */
  successor: Nullable(Closed({ id: Id, key_id: Type.String(), last_four: Type.String() })),
  revoked_at: Nullable(Timestamp),
  locked_at: Nullable(Timestamp),
  last_used_at: Nullable(Timestamp),
  last_used_ip: Nullable(Type.String()),
  /** Rotated, and used since. */
  is_used_since_rotation: Type.Boolean(),
  /** Addresses it was used from since its rotation, latest first. */
  uses_since_rotation: Type.Array(Closed({ ip: Type.String(), at: Timestamp })),
  /** Works and is older than 90 days: time to rotate it. */
  is_due: Type.Boolean(),
});
export type ApiKey = Static<typeof ApiKey>;

/** A key with its secret, which is shown only once. */
const IssuedKey = Closed({
  key: ApiKey,
  secret: Type.String(),
  /** Address of the public API, for trying the key. */
  api_url: Type.String(),
});
export type IssuedKey = Static<typeof IssuedKey>;

export const KEY_ENDPOINTS = {
  'GET /orgs/:org/keys': {
    access: 'org_admin',
    summary: 'API keys, newest first; expired and revoked ones only on request',
    query: Closed({ ...pageQuery, ended: Type.Optional(Type.Boolean()) }),
    response: PageOf(ApiKey),
  },
  'GET /orgs/:org/key-reminders': {
    access: 'org_admin',
    summary: 'Keys that work and are older than 90 days, oldest first, at most 100',
    response: Closed({ items: Type.Array(Closed({ id: Id, name: Type.String(), created_at: Timestamp })) }),
  },
  'POST /orgs/:org/keys': {
    access: 'org_admin',
    summary: 'Issue a key in my name; its secret is only in this response',
    body: Closed({
      name: Type.Unsafe<string>({ type: 'string', 'x-name': [1, 255] }),
      scopes: Type.Array(Type.Enum([...SCOPES], { type: 'string' }), { minItems: 1, maxItems: 10 }),
      /** Null: never. */
      expires_at: Nullable(Timestamp),
    }),
    response: IssuedKey,
  },
  'POST /orgs/:org/keys/:key/rotate': {
    access: 'org_admin',
    summary: 'Issue a successor; the key itself works for at most 24 more hours',
    response: Closed({ key: ApiKey, secret: Type.String(), api_url: Type.String(), predecessor: ApiKey }),
  },
  'POST /orgs/:org/keys/:key/revoke': {
    access: 'org_admin',
    summary: 'Revoke a key, at once and for good',
    response: ApiKey,
  },
  'POST /orgs/:org/keys/:key/unlock': {
    access: 'org_admin',
    summary: 'Unlock a key after failed authentications',
    response: ApiKey,
  },
} as const satisfies Endpoints;
