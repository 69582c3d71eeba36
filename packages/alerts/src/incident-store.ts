import type { Queryable } from '@millrace/database/database';
import { tryLock } from '@millrace/database/locks';
import { queryRow } from '@millrace/database/query-row';
import { rowSet } from '@millrace/database/row-set';
import type { EndedExecution, FailingWorkflow, Incident, JudgedRule, Occurrence } from './judge.ts';

/** What there is to do for alerts. */
export interface AlertWork {
  readonly has_ended: boolean;
  readonly has_checks: boolean;
  readonly has_incidents: boolean;
  readonly has_messages: boolean;
}

/** One cheap statement, for the many rounds in which there is nothing to do. */
export async function lookForAlerts(db: Queryable): Promise<AlertWork> {
  return queryRow<AlertWork>(
    db,
    `SELECT EXISTS (SELECT FROM execution_follow_ups WHERE kind = 'check_alerts') AS has_ended,
       EXISTS (SELECT FROM alert_rules WHERE is_enabled AND kind IN ('recovered', 'slow', 'silent', 'expiring')
         AND next_check_at <= now()) AS has_checks,
       EXISTS (SELECT FROM alert_incidents WHERE message_id IS NULL) AS has_incidents,
       EXISTS (SELECT FROM alert_messages WHERE status = 'pending' AND due_at <= now()) AS has_messages`,
    [],
    'look_for_alerts',
  );
}

/** Held until the end of the transaction; false if another process holds it. */
export function tryAlertLock(tx: Queryable): Promise<boolean> {
  return tryLock(tx, 'alerts');
}

/** Takes executions that ended, oldest first; whoever takes them records in the same transaction what became of them. */
export async function takeEnded(tx: Queryable, limit: number): Promise<EndedExecution[]> {
  return tx.query<EndedExecution>(
    `WITH taken AS (
       DELETE FROM execution_follow_ups WHERE kind = 'check_alerts' AND execution_id IN (
         SELECT execution_id FROM execution_follow_ups WHERE kind = 'check_alerts'
         ORDER BY execution_id LIMIT $1 FOR UPDATE SKIP LOCKED)
       RETURNING execution_id
     )
     SELECT e.id, e.organisation_id, e.workflow_id, w.name AS workflow_name, e.status = 'failed' AS has_failed, e.error,
       e.completed_at, (extract(epoch FROM e.completed_at - e.started_at) * 1000)::double precision AS duration_ms
     FROM taken t JOIN executions e ON e.id = t.execution_id JOIN workflows w ON w.id = e.workflow_id`,
    [limit],
  );
}

/** Enabled rules of these organisations about executions that end, locked until the transaction ends. */
export async function lockRulesOfEnded(
  tx: Queryable,
  organisationIds: readonly number[],
): Promise<JudgedRule[]> {
  return tx.query<JudgedRule>(
    `SELECT id, organisation_id, kind, workflow_id, threshold, seconds, since, recent_failures
     FROM alert_rules
     WHERE organisation_id = ANY ($1::bigint[]) AND is_enabled AND kind IN ('failure', 'failures', 'recovered', 'slow')
     ORDER BY id FOR NO KEY UPDATE`,
    [organisationIds],
  );
}

/** Enabled rules about failures of a workflow. */
export async function listFailureRules(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(
    `SELECT id FROM alert_rules WHERE organisation_id = $1 AND is_enabled AND kind = 'failure'
       AND (workflow_id IS NULL OR workflow_id = $2) ORDER BY id`,
    [organisationId, workflowId],
  );
  return rows.map(({ id }) => id);
}

export async function saveRecentFailures(
  tx: Queryable,
  byRule: ReadonlyMap<number, readonly number[]>,
): Promise<void> {
  const rows = [...byRule];
  await tx.query(
    `UPDATE alert_rules r SET recent_failures = n.times::json
     FROM unnest($1::bigint[], $2::text[]) AS n (id, times) WHERE r.id = n.id`,
    [rows.map(([id]) => id), rows.map(([, times]) => JSON.stringify(times))],
  );
}

const FAILING = rowSet<FailingWorkflow>({
  rule_id: ['bigint', (row) => row.ruleId],
  workflow_id: ['bigint', (row) => row.workflowId],
  organisation_id: ['bigint', (row) => row.organisationId],
  execution_id: ['bigint', (row) => row.executionId],
});

export async function recordFailing(tx: Queryable, failing: readonly FailingWorkflow[]): Promise<void> {
  await tx.query(
    `INSERT INTO alert_failing_workflows AS f (rule_id, workflow_id, organisation_id, execution_id)
     SELECT rule_id, workflow_id, organisation_id, execution_id FROM ${FAILING.sql} AS n (${FAILING.list()})
     ON CONFLICT (rule_id, workflow_id) DO UPDATE SET execution_id = greatest(f.execution_id, excluded.execution_id)`,
    FAILING.values(failing),
  );
}

const INCIDENTS = rowSet<Incident>({
  rule_id: ['bigint', (row) => row.ruleId],
  organisation_id: ['bigint', (row) => row.organisationId],
  subject: ['text', (row) => row.subject],
  name: ['text', (row) => row.name],
  workflow_id: ['bigint', (row) => row.workflowId],
  execution_id: ['bigint', (row) => row.executionId],
  error: ['text', (row) => row.error],
  occurrences: ['bigint', (row) => row.occurrences],
  first_at: ['timestamptz', (row) => row.firstAt],
  last_at: ['timestamptz', (row) => row.at],
});

/** Adds to what no message has reported yet; each subject of a rule is given once. */
export async function recordIncidents(tx: Queryable, incidents: readonly Incident[]): Promise<void> {
  await tx.query(
    `INSERT INTO alert_incidents AS i (rule_id, organisation_id, subject, name, workflow_id, execution_id, error,
       occurrences, first_at, last_at)
     SELECT rule_id, organisation_id, subject, name, workflow_id, execution_id, error::json, occurrences, first_at, last_at
     FROM ${INCIDENTS.sql} AS n (${INCIDENTS.list()}) ORDER BY rule_id, subject
     ON CONFLICT (rule_id, subject) WHERE message_id IS NULL DO UPDATE SET
       name = excluded.name, execution_id = excluded.execution_id, error = excluded.error,
       occurrences = i.occurrences + excluded.occurrences, last_at = excluded.last_at,
       workflow_id = excluded.workflow_id`,
    INCIDENTS.values(incidents),
  );
}

/**
 * Removes the marks of executions that were noticed while they ran.
 * @returns the marks that there were, as `<rule> <execution>`
 */
export async function takeMarks(tx: Queryable, slow: readonly Occurrence[]): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ rule_id: number; mark: string }>(
    `DELETE FROM alert_marks m USING unnest($1::bigint[], $2::text[]) AS n (rule_id, mark)
     WHERE m.rule_id = n.rule_id AND m.mark = n.mark RETURNING m.rule_id, m.mark`,
    [slow.map(({ ruleId }) => ruleId), slow.map(({ executionId }) => `execution:${executionId}`)],
  );
  return new Set(rows.map(({ rule_id: rule, mark }) => `${rule} ${mark.slice('execution:'.length)}`));
}

/** Takes rules whose turn it is to be looked at; each has its next turn after `intervalMs`. */
export async function takeRulesToCheck(tx: Queryable, limit: number, intervalMs: number): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(
    `UPDATE alert_rules SET next_check_at = now() + $2::double precision * interval '1 millisecond'
     WHERE id IN (
       SELECT id FROM alert_rules
       WHERE is_enabled AND kind IN ('recovered', 'slow', 'silent', 'expiring') AND next_check_at <= now()
       ORDER BY next_check_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED)
     RETURNING id`,
    [limit, intervalMs],
  );
  return rows.map(({ id }) => id);
}

export interface NoticedRow {
  readonly rule_id: number;
  readonly organisation_id: number;
  readonly subject: string;
  readonly name: string;
  readonly workflow_id: number | null;
  readonly execution_id: number | null;
  readonly at: Date;
  /** The service behind a credential no longer accepts its connection. */
  readonly is_disconnected?: boolean;
}

/** Workflows that completed after they had failed; they are no longer awaited. */
export async function noticeRecovered(tx: Queryable, ruleIds: readonly number[]): Promise<NoticedRow[]> {
  return tx.query<NoticedRow>(
    `WITH recovered AS MATERIALIZED (
       SELECT f.rule_id, f.organisation_id, f.workflow_id, w.name, c.id AS execution_id, c.completed_at AS at
       FROM alert_failing_workflows f JOIN workflows w ON w.id = f.workflow_id CROSS JOIN LATERAL (
         SELECT e.id, e.completed_at FROM executions e
         -- Its newest, by the index that has them in this order.
         WHERE e.workflow_id = f.workflow_id AND e.status <> 'running' AND (e.status, e.id) > ('completed', f.execution_id)
           AND (e.status, e.id) <= ('completed', 9223372036854775807) AND e.workflow_version > 0 AND NOT e.is_test_mode
         ORDER BY e.status DESC, e.id DESC LIMIT 1) c
       WHERE f.rule_id = ANY ($1::bigint[])
     ), gone AS (
       DELETE FROM alert_failing_workflows f USING recovered r
       WHERE f.rule_id = r.rule_id AND f.workflow_id = r.workflow_id
     )
     SELECT rule_id, organisation_id, 'workflow:' || workflow_id AS subject, name, workflow_id, execution_id, at FROM recovered`,
    [ruleIds],
  );
}

/** Executions that run for longer than their rule allows; those that wait are judged when they end. */
export async function noticeSlow(tx: Queryable, ruleIds: readonly number[]): Promise<NoticedRow[]> {
  return tx.query<NoticedRow>(
    `WITH slow AS MATERIALIZED (
       SELECT r.id AS rule_id, r.organisation_id, e.workflow_id, w.name, e.id AS execution_id
       FROM alert_rules r JOIN executions e ON e.organisation_id = r.organisation_id AND e.status = 'running'
         JOIN workflows w ON w.id = e.workflow_id
       WHERE r.id = ANY ($1::bigint[]) AND r.kind = 'slow' AND (r.workflow_id IS NULL OR r.workflow_id = e.workflow_id)
         AND e.started_at < now() - r.seconds * interval '1 second' AND e.started_at >= r.since
         AND e.workflow_version > 0 AND NOT e.is_test_mode AND NOT e.parent_waits
     ), marked AS (
       INSERT INTO alert_marks (rule_id, mark, organisation_id)
       SELECT rule_id, 'execution:' || execution_id, organisation_id FROM slow
       ON CONFLICT (rule_id, mark) DO NOTHING RETURNING rule_id, mark
     )
     SELECT s.rule_id, s.organisation_id, 'workflow:' || s.workflow_id AS subject, s.name, s.workflow_id, s.execution_id,
       now() AS at
     FROM slow s JOIN marked m ON m.rule_id = s.rule_id AND m.mark = 'execution:' || s.execution_id`,
    [ruleIds],
  );
}

/** Workflows that have not been started for as long as their rule says; each silence once. */
export async function noticeSilent(tx: Queryable, ruleIds: readonly number[]): Promise<NoticedRow[]> {
  return tx.query<NoticedRow>(
    `WITH silent AS MATERIALIZED (
       SELECT r.id AS rule_id, r.organisation_id, w.id AS workflow_id, w.name, l.id AS execution_id,
         greatest(r.since, l.created_at) AS at
       FROM alert_rules r JOIN workflows w ON w.id = r.workflow_id AND w.status <> 'archived'
         LEFT JOIN LATERAL (SELECT e.id, e.created_at FROM executions e
           WHERE e.workflow_id = w.id AND e.workflow_version > 0 ORDER BY e.id DESC LIMIT 1) l ON true
       WHERE r.id = ANY ($1::bigint[]) AND r.kind = 'silent'
         AND greatest(r.since, l.created_at) < now() - r.seconds * interval '1 second'
     ), marked AS (
       INSERT INTO alert_marks (rule_id, mark, organisation_id)
       SELECT rule_id, 'since:' || extract(epoch FROM at), organisation_id FROM silent
       ON CONFLICT (rule_id, mark) DO NOTHING RETURNING rule_id
     )
     SELECT s.rule_id, s.organisation_id, 'workflow:' || s.workflow_id AS subject, s.name, s.workflow_id, s.execution_id, s.at
     FROM silent s JOIN marked m ON m.rule_id = s.rule_id`,
    [ruleIds],
  );
}

/** API keys and credentials that end within the time of their rule, each end once, and connections that a service has ended. */
export async function noticeExpiring(tx: Queryable, ruleIds: readonly number[]): Promise<NoticedRow[]> {
  return tx.query<NoticedRow>(
    `WITH rule AS MATERIALIZED (
       SELECT id, organisation_id, now() + seconds * interval '1 second' AS until FROM alert_rules
       WHERE id = ANY ($1::bigint[]) AND kind = 'expiring'
     ), ending AS MATERIALIZED (
       SELECT r.id AS rule_id, r.organisation_id, 'api_key:' || k.id AS subject, k.name, k.expires_at AS at,
         extract(epoch FROM k.expires_at)::text AS mark, false AS is_disconnected
       FROM rule r JOIN api_keys k USING (organisation_id)
       WHERE k.revoked_at IS NULL AND k.rotated_at IS NULL AND k.expires_at > now() AND k.expires_at < r.until
       UNION ALL
       SELECT r.id, r.organisation_id, 'credential:' || c.id, c.name, c.expires_at, extract(epoch FROM c.expires_at)::text, false
       FROM rule r JOIN credentials c USING (organisation_id)
       WHERE c.expires_at > now() AND c.expires_at < r.until
       UNION ALL
       SELECT r.id, r.organisation_id, 'credential:' || c.id, c.name, now(), 'disconnected ' || g.generation, true
       FROM rule r JOIN credential_grants g USING (organisation_id) JOIN credentials c ON c.id = g.credential_id
       WHERE g.state = 'ended'
     ), marked AS (
       INSERT INTO alert_marks (rule_id, mark, organisation_id)
       SELECT rule_id, subject || ' ' || mark, organisation_id FROM ending
       ON CONFLICT (rule_id, mark) DO NOTHING RETURNING rule_id, mark
     )
     SELECT e.rule_id, e.organisation_id, e.subject, e.name, NULL::bigint AS workflow_id, NULL::bigint AS execution_id, e.at,
       e.is_disconnected
     FROM ending e JOIN marked m ON m.rule_id = e.rule_id AND m.mark = e.subject || ' ' || e.mark`,
    [ruleIds],
  );
}
