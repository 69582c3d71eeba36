import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { Closed, Nullable, Sentence, Timestamp } from './forms.ts';

const Count = Type.Integer({ minimum: 0 });

/** `stopped`: shut down after handing over; `silent`: its lease expired, and others take over its executions. */
export const WORKER_STATES = ['alive', 'stopped', 'silent'] as const;
export type WorkerState = (typeof WORKER_STATES)[number];

export const WorkerItem = Closed({
  id: Type.String(),
  host: Type.String(),
  pid: Type.Integer(),
  started_at: Timestamp,
  heartbeat_at: Timestamp,
  state: Type.Enum([...WORKER_STATES], { type: 'string' }),
  /** Executions it is running. */
  running: Count,
});
export type WorkerItem = Static<typeof WorkerItem>;

export const HEALTH_CHECKS = ['database', 'workers', 'queue', 'samples'] as const;
export const HEALTH_STATES = ['ok', 'warning', 'failed'] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** The current state of the service. */
export const SystemState = Closed({
  version: Type.String(),
  node_version: Type.String(),
  postgresql_version: Type.String(),
  /** The last migration applied. */
  schema_version: Type.Integer(),
  now: Timestamp,
  /** Counts stop here: a value this high may mean more. */
  count_limit: Count,
  queue: Closed({
    queued: Count,
    running: Count,
    waiting: Count,
    /** When the oldest queued execution was accepted. */
    oldest_queued_at: Nullable(Timestamp),
  }),
  database: Closed({
    bytes: Count,
    round_trip_ms: Type.Number({ minimum: 0 }),
    /** The first sample of the last 24 hours; null: there is none. */
    earlier: Nullable(Closed({ at: Timestamp, bytes: Count })),
  }),
  workers: Type.Array(WorkerItem),
  health: Type.Array(
    Closed({
      check: Type.Enum([...HEALTH_CHECKS], { type: 'string' }),
      state: Type.Enum([...HEALTH_STATES], { type: 'string' }),
    }),
  ),
});
export type SystemState = Static<typeof SystemState>;

/** One minute; rates are null if there was no sample shortly before. */
export const SystemSample = Closed({
  at: Timestamp,
  queued: Count,
  running: Count,
  waiting: Count,
  workers: Count,
  started_per_minute: Nullable(Type.Number({ minimum: 0 })),
  failed_per_minute: Nullable(Type.Number({ minimum: 0 })),
  database_bytes: Count,
});
export type SystemSample = Static<typeof SystemSample>;

/** What the doctor looks at. */
export const DOCTOR_CHECKS = [
  'settings',
  'server',
  'durability',
  'connections',
  'pooling',
  'migrations',
  'clock',
  'disk',
  'files',
  'keys',
  'audit_log',
  'workers',
  'vectors',
  'public_url',
] as const;
export type DoctorCheck = (typeof DOCTOR_CHECKS)[number];

const Check = Type.Enum([...DOCTOR_CHECKS], { type: 'string' });

export const DoctorFinding = Closed({
  check: Check,
  level: Type.Enum(['error', 'warning', 'info'], { type: 'string' }),
  what: Sentence,
  why: Sentence,
  fix: Sentence,
});
export type DoctorFinding = Static<typeof DoctorFinding>;

export const SYSTEM_ENDPOINTS = {
  'GET /system/diagnosis': {
    access: 'system_admin',
    summary: 'What is wrong with the installation, and how to fix it',
    response: Closed({
      /** Checks that were carried out; those without a finding are all right. */
      checks: Type.Array(Check),
      findings: Type.Array(DoctorFinding),
    }),
  },
  'GET /system': {
    access: 'system_admin',
    summary: 'Queue, workers, database, versions and health, live',
    response: SystemState,
  },
  'GET /system/samples': {
    access: 'system_admin',
    summary: 'Metrics, one sample per minute, oldest first; longer spans are thinned out',
    query: Closed({ hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 168 })) }),
    response: Closed({ items: Type.Array(SystemSample) }),
  },
} as const satisfies Endpoints;
