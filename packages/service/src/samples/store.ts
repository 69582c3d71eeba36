import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { type JsonText, type JsonValue, stringifyJson } from '@millrace/engine';
import type { Message } from '@millrace/messages';

/** What the trigger was called with, stored for building the workflow. */
export interface SampleRow {
  readonly revision: number;
  readonly source: 'webhook' | 'manual';
  /** JSON text. */
  readonly data: string;
  /** JSON text; null except for a webhook's call. */
  readonly headers: string | null;
  readonly execution_id: number | null;
  /** Its event had been received before, so it started nothing. */
  readonly is_repeat: boolean;
  readonly received_at: Date;
}

export async function findSample(tx: Queryable, workflowId: number): Promise<SampleRow | undefined> {
  const [row] = await tx.query<SampleRow>(
    `SELECT revision, source, data, headers, execution_id, is_repeat, received_at FROM workflow_samples WHERE workflow_id = $1`,
    [workflowId],
  );
  return row;
}

export interface NewSample {
  readonly organisationId: number;
  readonly workflowId: number;
  readonly data: JsonValue;
}

/** Replaces the previous sample; listeners in every process are notified. */
export async function putSample(tx: Queryable, sample: NewSample): Promise<SampleRow> {
  const row = await queryRow<SampleRow>(
    tx,
    `INSERT INTO workflow_samples AS s (workflow_id, organisation_id, revision, source, data)
     VALUES ($1, $2, 1, 'manual', $3::json)
     ON CONFLICT (workflow_id) DO UPDATE SET revision = s.revision + 1, source = EXCLUDED.source,
       data = EXCLUDED.data, headers = NULL, execution_id = NULL, is_repeat = false,
       received_at = EXCLUDED.received_at
     RETURNING revision, source, data, headers, execution_id, is_repeat, received_at,
       pg_notify('millrace_samples', workflow_id::text)`,
    [sample.workflowId, sample.organisationId, stringifyJson(sample.data)],
  );
  return row;
}

/** A webhook call. */
export interface Call extends NewSample {
  readonly headers: { readonly [name: string]: string };
  readonly executionId: number;
  /** Whether an earlier call with the same event started that execution. */
  readonly isRepeat: boolean;
}

/**
 * Makes a call the sample if someone is listening, and ends the listening; of several concurrent calls one is used. Returns
 * false if nobody is listening any more.
 */
export async function captureCall(db: Queryable, call: Call): Promise<boolean> {
  const rows = await db.query(
    `WITH ended AS (
       DELETE FROM sample_listeners WHERE workflow_id = $1 AND expires_at > now() RETURNING workflow_id
     )
     INSERT INTO workflow_samples AS s
       (workflow_id, organisation_id, revision, source, data, headers, execution_id, is_repeat)
     SELECT ended.workflow_id, $2::bigint, 1, 'webhook', $3::json, $4::json, $5::bigint, $6::boolean FROM ended LIMIT 1
     ON CONFLICT (workflow_id) DO UPDATE SET revision = s.revision + 1, source = EXCLUDED.source,
       data = EXCLUDED.data, headers = EXCLUDED.headers, execution_id = EXCLUDED.execution_id,
       is_repeat = EXCLUDED.is_repeat, received_at = EXCLUDED.received_at
     RETURNING revision, pg_notify('millrace_samples', workflow_id::text)`,
    [
      call.workflowId,
      call.organisationId,
      stringifyJson(call.data),
      stringifyJson(call.headers),
      call.executionId,
      call.isRepeat,
    ],
  );
  return rows.length > 0;
}

/** Why a call was refused. */
export type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly message: Message;
};

/** Notifies those listening for a sample that a call to this address was refused, and why. Does nothing if nobody listens. */
export async function noteRefusal(db: Queryable, hash: string, refusal: Refusal): Promise<void> {
  await db.query(
    `WITH noted AS (
       UPDATE sample_listeners SET refusal = $2::json, refused_at = clock_timestamp()
       WHERE expires_at > now() AND workflow_id IN (
         SELECT id FROM workflows WHERE webhook_hash = $1
         UNION ALL SELECT workflow_id FROM former_webhook_hashes WHERE hash = $1 AND valid_until > now())
       RETURNING workflow_id
     ) SELECT pg_notify('millrace_samples', workflow_id::text) FROM noted`,
    [hash, stringifyJson(refusal)],
  );
}

/** Starts listening, or extends it from now; its watchers in every process are notified. Returns when it ends. */
export async function putListener(
  tx: Queryable,
  listener: {
    readonly organisationId: number;
    readonly workflowId: number;
    readonly userId: number;
    readonly seconds: number;
  },
): Promise<Date> {
  const row = await queryRow<{ expires_at: Date }>(
    tx,
    `INSERT INTO sample_listeners (workflow_id, user_id, organisation_id, expires_at)
     VALUES ($1, $2, $3, date_trunc('milliseconds', now()) + $4::integer * interval '1 second')
     ON CONFLICT (workflow_id, user_id) DO UPDATE SET expires_at = EXCLUDED.expires_at, refusal = NULL,
       refused_at = NULL
     RETURNING expires_at, pg_notify('millrace_samples', workflow_id::text)`,
    [listener.workflowId, listener.userId, listener.organisationId, listener.seconds],
  );
  return row.expires_at;
}

/** Stops listening; its watchers in every process are notified. */
export async function deleteListener(tx: Queryable, workflowId: number, userId: number): Promise<void> {
  await tx.query(
    `WITH ended AS (
       DELETE FROM sample_listeners WHERE workflow_id = $1 AND user_id = $2 RETURNING workflow_id
     ) SELECT pg_notify('millrace_samples', workflow_id::text) FROM ended`,
    [workflowId, userId],
  );
}

/** What someone listening needs to know, as of one moment. */
export interface ListeningRow {
  /** Null if they aren't listening, or no longer. */
  readonly until: Date | null;
  readonly revision: number;
  /** The last refused call, if any. */
  readonly refused_at: Date | null;
  readonly refusal: JsonText<Refusal> | null;
}

export async function findListening(
  tx: Queryable,
  workflowId: number,
  userId: number,
): Promise<ListeningRow> {
  const [row] = await tx.query<ListeningRow>(
    `SELECT l.expires_at AS until, l.refused_at, l.refusal,
       coalesce((SELECT revision FROM workflow_samples WHERE workflow_id = $1), 0) AS revision
     FROM (SELECT) AS one
     LEFT JOIN sample_listeners l ON l.workflow_id = $1 AND l.user_id = $2 AND l.expires_at > now()`,
    [workflowId, userId],
  );
  return row ?? { until: null, revision: 0, refused_at: null, refusal: null };
}

/** Deletes listeners that have expired. */
export async function pruneListeners(tx: Queryable, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM sample_listeners l USING (
       SELECT workflow_id, user_id FROM sample_listeners WHERE expires_at <= now() ORDER BY expires_at LIMIT $1
     ) old
     WHERE l.workflow_id = old.workflow_id AND l.user_id = old.user_id AND l.expires_at <= now()
     RETURNING l.workflow_id`,
    [limit],
  );
  return rows.length;
}
