import type { AlertChannel, AlertKind, AlertLanguage, AlertTarget } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';

/** What a rule says, in columns. */
export interface RuleColumns {
  readonly name: string;
  readonly kind: AlertKind;
  /** Null: every workflow. */
  readonly workflow_id: number | null;
  readonly threshold: number | null;
  readonly seconds: number | null;
  readonly channel: AlertChannel;
  readonly language: AlertLanguage;
  readonly group_seconds: number;
  /** Minutes since midnight in the organisation's time zone. */
  readonly quiet_from: number | null;
  readonly quiet_to: number | null;
  readonly is_enabled: boolean;
}

export interface RuleRow extends RuleColumns {
  readonly id: number;
  readonly organisation_id: number;
  readonly workflow_name: string | null;
  /** JSON text of an {@link AlertTarget}. */
  readonly target: string;
  readonly created_at: Date;
  /** Occurrences that no message has reported yet. */
  readonly waiting: number;
  readonly next_message_at: Date;
}

/** The organisation's rules, the oldest first. */
export async function listRules(db: Queryable, organisationId: number): Promise<RuleRow[]> {
  return db.query<RuleRow>(`${SELECT_RULES} WHERE r.organisation_id = $1 ORDER BY r.id`, [organisationId]);
}

export async function findRule(
  db: Queryable,
  organisationId: number,
  id: number,
): Promise<RuleRow | undefined> {
  const [row] = await db.query<RuleRow>(`${SELECT_RULES} WHERE r.organisation_id = $1 AND r.id = $2`, [
    organisationId,
    id,
  ]);
  return row;
}

const SELECT_RULES = `SELECT r.id, r.organisation_id, r.name, r.kind, r.workflow_id, w.name AS workflow_name, r.threshold,
    r.seconds, r.channel, r.target, r.language, r.group_seconds, r.quiet_from, r.quiet_to, r.is_enabled, r.created_at,
    r.next_message_at, coalesce(i.waiting, 0)::bigint AS waiting
  FROM alert_rules r LEFT JOIN workflows w ON w.id = r.workflow_id
    LEFT JOIN LATERAL (SELECT sum(occurrences) AS waiting FROM alert_incidents
      WHERE rule_id = r.id AND message_id IS NULL) i ON true`;

export async function countRules(tx: Queryable, organisationId: number): Promise<number> {
  const row = await queryRow<{ count: number }>(
    tx,
    'SELECT count(*) AS count FROM alert_rules WHERE organisation_id = $1',
    [organisationId],
  );
  return row.count;
}

export async function insertRule(
  tx: Queryable,
  organisationId: number,
  rule: RuleColumns,
  target: AlertTarget,
): Promise<number> {
  const row = await queryRow<{ id: number }>(
    tx,
    `INSERT INTO alert_rules (organisation_id, name, kind, workflow_id, threshold, seconds, channel, target, language,
       group_seconds, quiet_from, quiet_to, is_enabled)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING id`,
    [organisationId, ...valuesOf(rule, target)],
  );
  return row.id;
}

/**
 * Overwrites a rule. What waits is reported as soon as the rule now allows.
 * @param isOtherCondition its condition counts from now on
 */
export async function updateRule(
  tx: Queryable,
  id: number,
  rule: RuleColumns,
  target: AlertTarget,
  isOtherCondition: boolean,
): Promise<void> {
  await tx.query(
    `UPDATE alert_rules SET name = $2, kind = $3, workflow_id = $4, threshold = $5, seconds = $6, channel = $7,
       target = $8, language = $9, group_seconds = $10, quiet_from = $11, quiet_to = $12, is_enabled = $13,
       next_message_at = now(), next_check_at = now(), since = CASE WHEN $14 THEN now() ELSE since END,
       recent_failures = CASE WHEN $14 THEN '[]' ELSE recent_failures END
     WHERE id = $1`,
    [id, ...valuesOf(rule, target), isOtherCondition],
  );
  if (!isOtherCondition) return;
  await tx.query('DELETE FROM alert_failing_workflows WHERE rule_id = $1', [id]);
  await tx.query('DELETE FROM alert_incidents WHERE rule_id = $1 AND message_id IS NULL', [id]);
}

function valuesOf(rule: RuleColumns, target: AlertTarget): unknown[] {
  return [
    rule.name,
    rule.kind,
    rule.workflow_id,
    rule.threshold,
    rule.seconds,
    rule.channel,
    JSON.stringify(target),
    rule.language,
    rule.group_seconds,
    rule.quiet_from,
    rule.quiet_to,
    rule.is_enabled,
  ];
}

/** Deletes a rule and what no message has reported; the history is kept. */
export async function deleteRule(tx: Queryable, id: number): Promise<void> {
  await tx.query('DELETE FROM alert_incidents WHERE rule_id = $1 AND message_id IS NULL', [id]);
  await tx.query('DELETE FROM alert_rules WHERE id = $1', [id]);
}
