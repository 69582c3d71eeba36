import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { Closed, Id, Nullable } from './forms.ts';

const Days = Type.Integer({ minimum: 1, maximum: 36_500 });
const perStatus = { completed: Nullable(Days), failed: Nullable(Days), cancelled: Nullable(Days) };

/** An organisation's own settings; null: as the service is configured. */
export const OrganisationSettings = Closed({
  name: Type.String(),
  /** IANA name; the default of new workflows and schedules. */
  time_zone: Nullable(Type.String()),
  /** Days after which ended executions are deleted. */
  retention_days: Closed(perStatus),
  /** Requests per minute of all API keys together, in each process of the service. */
  requests_per_minute: Nullable(Type.Integer({ minimum: 1 })),
  /** The only hosts that nodes may call; null: all that the service allows. */
  allowed_hosts: Nullable(Type.Array(Type.String())),
  /** Started when an execution fails whose workflow names no error workflow; null: nothing is. */
  error_workflow_id: Nullable(Id),
  /** The maximum allowed by the service. */
  service: Closed({
    retention_days: Closed({ completed: Days, failed: Days, cancelled: Days }),
    /** 0: no limit. */
    requests_per_minute_per_key: Type.Integer({ minimum: 0 }),
    audit_days: Days,
    /** Hosts that nodes may call besides the public internet: the entries of MILLRACE_ALLOW_HOSTS. */
    allowed_hosts: Type.Array(Type.String()),
  }),
});
export type OrganisationSettings = Static<typeof OrganisationSettings>;

export const SETTINGS_ENDPOINTS = {
  'GET /orgs/:org/settings': {
    access: 'org_admin',
    summary: 'Settings of the organisation, and what it may set',
    response: OrganisationSettings,
  },
  'PATCH /orgs/:org/settings': {
    access: 'org_admin',
    summary:
      'Change settings; omitted members keep their values, null restores the configured value of the service',
    body: Closed({
      time_zone: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100 }))),
      retention_days: Type.Optional(
        Closed({
          completed: Type.Optional(Nullable(Days)),
          failed: Type.Optional(Nullable(Days)),
          cancelled: Type.Optional(Nullable(Days)),
        }),
      ),
      requests_per_minute: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 10_000_000 }))),
      allowed_hosts: Type.Optional(
        Nullable(Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { maxItems: 200 })),
      ),
      error_workflow_id: Type.Optional(Nullable(Id)),
    }),
    response: OrganisationSettings,
  },
  'GET /orgs/:org/defaults': {
    access: 'viewer',
    summary: 'Defaults for new workflows',
    response: Closed({ time_zone: Nullable(Type.String()) }),
  },
} as const satisfies Endpoints;
