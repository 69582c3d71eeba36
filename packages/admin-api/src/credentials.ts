import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { AnyObject, Closed, explanation, Id, Nullable, Timestamp } from './forms.ts';

const Name = Type.String({ minLength: 1, maxLength: 1_000 });
const Hosts = Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { maxItems: 200 });
/** Validated by the schema of the type, with pointers below `/fields`. */
const Fields = AnyObject;

/** A credential as displayed: responses never contain its secrets. */
export const Credential = Closed({
  id: Id,
  name: Type.String(),
  type: Type.String(),
  /** Where it may be sent; empty for types with a host setting. */
  hosts: Type.Array(Type.String()),
  /** The fields that aren't secret. */
  settings: AnyObject,
  /** Its secret was lost with its encryption key and has to be entered again. */
  needs_secret: Type.Boolean(),
  /** Names of its secret fields with a value; null: it was stored before these were recorded. */
  stored_secrets: Nullable(Type.Array(Type.String())),
  /** E-mail address of the member who created it; null: the operator, or a former member. */
  created_by: Nullable(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
  /** To the minute. */
  last_used_at: Nullable(Timestamp),
  /** The approval that its tokens depend on; null: it needs nobody's. */
  connection: Nullable(
    Closed({
      /** `ended`: the provider no longer accepts it, so someone has to connect it again. */
      state: Type.Enum(['missing', 'connected', 'ended'], { type: 'string' }),
      connected_at: Nullable(Timestamp),
    }),
  ),
});
export type Credential = Static<typeof Credential>;

/** Where the values of some fields are found at the other side. */
export const CredentialGuide = Closed({
  /** The values of other fields with which it applies. */
  when: Type.Record(Type.String(), Type.Array(Type.String())),
  /** Hosts of the service, if only these tell which one it is; `.example.com` matches every subdomain. Empty: any. */
  hosts: Type.Array(Type.String()),
  /** Shown with the first of these that the form has. */
  fields: Type.Array(Type.String()),
  /** Its name; null: it applies to any service. */
  service: Nullable(Type.String()),
  /** The service's page that issues or explains the values. */
  page: Nullable(Type.String()),
  text: Type.String(),
});
export type CredentialGuide = Static<typeof CredentialGuide>;

/** A type of credential and the schema of its form. */
export const CredentialTypeItem = Closed({
  type: Type.String(),
  title: Type.String(),
  description: Type.String(),
  /** Whether it is restricted to a list of hosts. */
  is_bound: Type.Boolean(),
  guides: Type.Array(CredentialGuide),
  /** JSON Schema of its fields; secret ones are marked `x-secret`. */
  schema: AnyObject,
});
export type CredentialTypeItem = Static<typeof CredentialTypeItem>;

/** What is filled in for a service that `oauth2` credentials know. */
export const OauthPreset = Closed({
  id: Type.String(),
  title: Type.String(),
  hosts: Type.Array(Type.String()),
  /** Values of the fields that depend on the service. */
  fields: AnyObject,
});
export type OauthPreset = Static<typeof OauthPreset>;

/** The result of testing a credential. */
export const CredentialTest = Closed({
  /** `unsure`: no error, but no proof either. */
  outcome: Type.Enum(['works', 'unsure', 'failed'], { type: 'string' }),
  /** Details of the outcome: `accepted`, `reached`, `refused`, or an error code of nodes. */
  code: Type.String(),
  /** The address tested; null if nothing is ever sent. */
  where: Nullable(Type.String()),
  /** Status of the response, if it was an HTTP response. */
  status: Nullable(Type.Integer()),
  /** The error message of the other side or the service, without secrets. */
  refusal: Nullable(Closed({ message: Type.String(), ...explanation })),
  duration_ms: Type.Integer(),
});
export type CredentialTest = Static<typeof CredentialTest>;

/** Values that nodes can use with a credential, as its service lists them. */
export const CredentialOptions = Closed({
  items: Type.Array(
    Closed({
      value: Type.String(),
      label: Type.String(),
      /** The server or workspace it belongs to, if one credential reaches several. */
      group: Nullable(Type.String()),
    }),
  ),
  next_cursor: Nullable(Type.String()),
  /** False: the service has more than were fetched. */
  is_complete: Type.Boolean(),
  /** Why there is no list; values can be typed all the same. */
  failure: Nullable(Closed({ code: Type.String(), message: Type.String(), ...explanation })),
});
export type CredentialOptions = Static<typeof CredentialOptions>;

const User = Closed({ id: Id, name: Type.String() });
/** Where a credential is used: workflows, and alert rules. */
const CredentialUsage = Closed({ items: Type.Array(User), alert_rules: Type.Array(User) });
export type CredentialUsage = Static<typeof CredentialUsage>;

/** Only the other side knows it for certain. */
const Expiry = Closed({ expires_at: Nullable(Timestamp) });

export const CREDENTIAL_ENDPOINTS = {
  'GET /orgs/:org/credentials': {
    access: 'editor',
    isExact: true,
    summary: 'Credentials by name, without their secrets',
    response: Closed({ items: Type.Array(Credential) }),
  },
  'GET /orgs/:org/credential-types': {
    access: 'editor',
    isExact: true,
    summary: 'The types of credentials and their fields',
    response: Closed({
      items: Type.Array(CredentialTypeItem),
      oauth_presets: Type.Array(OauthPreset),
      /** To be registered with the services that `oauth2` credentials are for. */
      oauth_redirect_uri: Type.String(),
    }),
  },
  'POST /orgs/:org/credentials': {
    access: 'editor',
    isExact: true,
    summary: 'Store a credential; its secrets are never shown again',
    body: Closed({ name: Name, type: Type.String({ maxLength: 50 }), hosts: Hosts, fields: Fields }),
    response: Credential,
  },
  'PATCH /orgs/:org/credentials/:credential': {
    access: 'editor',
    isExact: true,
    summary:
      'Change a credential: omitted members and fields keep their values; a new destination requires the secrets again',
    body: Closed({ name: Type.Optional(Name), hosts: Type.Optional(Hosts), fields: Type.Optional(Fields) }),
    response: Credential,
  },
  'DELETE /orgs/:org/credentials/:credential': {
    access: 'editor',
    summary: 'Remove a credential; while workflows use it, this takes an org_admin and `force`',
    query: Closed({ force: Type.Optional(Type.Boolean()) }),
  },
  'POST /orgs/:org/credentials/:credential/connection': {
    access: 'editor',
    summary:
      'Begin to connect a credential: a person has to approve at the returned address within ten minutes',
    response: Closed({ authorization_url: Type.String() }),
  },
  'POST /orgs/:org/credentials/:credential/test': {
    access: 'editor',
    summary: 'Try a credential as a node would use it, without cost or changes; does not count as a use',
    body: Closed({
      /** A page that requires it; only for types restricted to hosts, and required for them. */
      url: Type.Optional(Type.String({ maxLength: 2_048 })),
    }),
    response: CredentialTest,
  },
  'GET /orgs/:org/credentials/:credential/options': {
    access: 'editor',
    summary:
      'What a service lists for the credential: the models of an AI provider, the channels of a chat service, or a list of a connector',
    query: Closed({
      /** A connector's list, such as `slack.channels`; `own.` stands before the organisation's own. */
      list: Type.Optional(Type.String({ pattern: '^(own\\.)?[a-z0-9_]{1,60}\\.[a-z0-9_]{1,60}$' })),
      /** What that list reads of the node's settings, as a JSON object. */
      settings: Type.Optional(Type.String({ maxLength: 4_000 })),
      search: Type.Optional(Type.String({ maxLength: 200 })),
      cursor: Type.Optional(Type.String({ maxLength: 20 })),
    }),
    response: CredentialOptions,
  },
  'GET /orgs/:org/credentials/:credential/expiry': {
    access: 'editor',
    summary: 'When what the credential holds ends, as it was entered',
    response: Expiry,
  },
  'PUT /orgs/:org/credentials/:credential/expiry': {
    access: 'editor',
    summary: 'Enter when what the credential holds ends, so that an alert can say so in time; null: never',
    body: Expiry,
    response: Expiry,
  },
  'GET /orgs/:org/credentials/:credential/usage': {
    access: 'editor',
    summary:
      'The workflows whose saved version uses the credential, including archived ones, and the alert rules that send with it',
    response: CredentialUsage,
  },
} as const satisfies Endpoints;
