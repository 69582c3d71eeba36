import type { AlertKind, AlertRuleForm, AlertTarget } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { takeLock } from '@millrace/database/locks';
import { type JsonObject, parseJson } from '@millrace/engine';
import { ApiError, type FieldError, notFound, validationError } from '@millrace/errors/errors';
import { type AuditAction, type AuditActor, insertAudit } from '@millrace/identity/audit/store';
import { message } from '@millrace/messages';
import { hasWorkflow } from '@millrace/runtime/statements';
import { type DeliveryDeps, deliver } from './deliver.ts';
import {
  countRules,
  deleteRule,
  findRule,
  insertRule,
  type RuleColumns,
  type RuleRow,
  updateRule,
} from './rule-store.ts';
import type { AlertSettings } from './settings.ts';
import { alertPayload, alertText } from './texts.ts';

/** Kinds that need these members; the others must not have them. */
const WITH_SECONDS: readonly AlertKind[] = ['failures', 'slow', 'silent', 'expiring'];

/** Adds a rule and records it. @throws ApiError 422, `too_many_alert_rules` */
export async function addRule(
  deps: DeliveryDeps,
  organisationId: number,
  form: AlertRuleForm,
  { rules: limit }: AlertSettings,
  by: AuditActor,
): Promise<RuleRow> {
  await checkForm(deps, organisationId, form);
  return deps.db.forOrganisation(organisationId, async (tx) => {
    // Rules are counted and added one after the other.
    await takeLock(tx, `alert rules ${organisationId}`);
    if ((await countRules(tx, organisationId)) >= limit) {
      throw new ApiError('too_many_alert_rules', message('service.too_many_alert_rules', { max: limit }));
    }
    const id = await insertRule(tx, organisationId, toColumns(form), form.target);
    await audit(tx, organisationId, id, form, 'alert_rule.created', by);
    return requireRule(tx, organisationId, id);
  });
}

/** Changes a rule and records it. @throws ApiError `not_found`, 422 */
export async function changeRule(
  deps: DeliveryDeps,
  organisationId: number,
  id: number,
  change: Partial<AlertRuleForm>,
  by: AuditActor,
): Promise<RuleRow> {
  const found = await deps.db.forOrganisation(organisationId, (tx) => requireRule(tx, organisationId, id));
  const form = { ...toForm(found), ...change };
  // What is only turned off needs no target that works.
  if (Object.keys(change).some((name) => name !== 'is_enabled')) await checkForm(deps, organisationId, form);
  return deps.db.forOrganisation(organisationId, async (tx) => {
    const before = toForm(await requireRule(tx, organisationId, id));
    const after = { ...before, ...change };
    const isOther = CONDITION.some((name) => before[name] !== after[name]);
    const isTurnedOn = after.is_enabled && !before.is_enabled;
    await updateRule(tx, id, toColumns(after), after.target, isOther || isTurnedOn);
    await audit(tx, organisationId, id, after, 'alert_rule.changed', by, { changed: Object.keys(change) });
    return requireRule(tx, organisationId, id);
  });
}

const CONDITION = ['kind', 'workflow_id', 'count', 'seconds'] as const;

/** Deletes a rule and records it. @throws ApiError `not_found` */
export async function removeRule(
  { db }: Pick<DeliveryDeps, 'db'>,
  organisationId: number,
  id: number,
  by: AuditActor,
): Promise<void> {
  await db.forOrganisation(organisationId, async (tx) => {
    const row = await requireRule(tx, organisationId, id);
    await deleteRule(tx, id);
    await audit(tx, organisationId, id, toForm(row), 'alert_rule.deleted', by);
  });
}

/** @throws ApiError `not_found` */
export async function requireRule(tx: Queryable, organisationId: number, id: number): Promise<RuleRow> {
  const row = await findRule(tx, organisationId, id);
  if (row === undefined) throw notFound('alert_rule');
  return row;
}

/** The rule as it is entered. */
export function toForm(row: RuleRow): AlertRuleForm {
  const {
    name,
    kind,
    workflow_id,
    threshold: count,
    seconds,
    channel,
    language,
    group_seconds,
    is_enabled,
  } = row;
  const { quiet_from: from, quiet_to: to } = row;
  return {
    ...{ name, kind, workflow_id, count, seconds, channel, language, group_seconds, is_enabled },
    target: parseJson(row.target) as AlertTarget,
    quiet_hours: from === null || to === null ? null : { from, to },
  };
}

function toColumns(form: AlertRuleForm): RuleColumns {
  const {
    name,
    kind,
    workflow_id,
    count,
    seconds,
    channel,
    language,
    group_seconds,
    quiet_hours,
    is_enabled,
  } = form;
  return {
    ...{ kind, workflow_id, seconds, channel, language, group_seconds, is_enabled },
    name: name.trim(),
    threshold: count,
    quiet_from: quiet_hours?.from ?? null,
    quiet_to: quiet_hours?.to ?? null,
  };
}

/** @throws ApiError 422 with a pointer per mistake */
async function checkForm(deps: DeliveryDeps, organisationId: number, form: AlertRuleForm): Promise<void> {
  const errors = findMistakes(form);
  const { workflow_id: workflowId } = form;
  if (workflowId !== null) {
    const isKnown = await deps.db.forOrganisation(organisationId, (tx) =>
      hasWorkflow(tx, organisationId, workflowId),
    );
    const unknown = message('service.workflow_not_found', { id: workflowId });
    if (!isKnown) errors.push({ pointer: '/workflow_id', code: 'workflow_not_found', message: unknown });
  }
  if (errors.length === 0) errors.push(...(await tryTarget(deps, organisationId, form)));
  if (errors.length > 0) throw validationError(errors);
}

function findMistakes(form: AlertRuleForm): FieldError[] {
  const { name, kind, workflow_id: workflowId, count, seconds } = form;
  const required = (pointer: string): FieldError => ({
    pointer,
    code: 'missing_field',
    message: message('service.alert_member_required', { kind }),
  });
  const unused = (pointer: string): FieldError => ({
    pointer,
    code: 'invalid_value',
    message: message('service.alert_member_unused', { kind }),
  });
  const errors: FieldError[] = [];
  if (name.trim() === '')
    errors.push({ pointer: '/name', code: 'missing_field', message: message('service.alert_name') });
  if (kind === 'failures' && count === null) errors.push(required('/count'));
  if (kind !== 'failures' && count !== null) errors.push(unused('/count'));
  if (WITH_SECONDS.includes(kind) && seconds === null) errors.push(required('/seconds'));
  if (!WITH_SECONDS.includes(kind) && seconds !== null) errors.push(unused('/seconds'));
  if (kind === 'silent' && workflowId === null) errors.push(required('/workflow_id'));
  if (kind === 'expiring' && workflowId !== null) errors.push(unused('/workflow_id'));
  return errors;
}

const CHECK_MS = 10_000;

/** Does everything that sending does, except for sending. */
async function tryTarget(
  deps: DeliveryDeps,
  organisationId: number,
  form: AlertRuleForm,
): Promise<FieldError[]> {
  const { name: ruleName, kind, channel, target, language, count: threshold, seconds } = form;
  const content = {
    ...{ ruleName, kind, threshold, seconds, organisationId, language },
    ...{ isTest: true, incidents: [], more: 0, publicUrl: 'https://millrace.invalid' },
  };
  const result = await deliver(deps, {
    ...{ organisationId, channel, target },
    text: alertText(content),
    payload: alertPayload(content, 0),
    key: 'alert-check',
    at: new Date(),
    isDryRun: true,
    signal: AbortSignal.timeout(CHECK_MS),
  });
  if (result.kind !== 'failure') return [];
  return [{ pointer: '/target', code: result.code, message: result.message }];
}

/** Where it goes is recorded, except for the path of a URL, which may grant access. */
async function audit(
  tx: Queryable,
  organisationId: number,
  id: number,
  { name, kind, channel, target, workflow_id: workflowId }: AlertRuleForm,
  action: AuditAction,
  by: AuditActor,
  more: JsonObject = {},
): Promise<void> {
  const host = target.url === undefined ? undefined : URL.parse(target.url)?.host;
  const details = {
    alert_rule_id: id,
    name,
    kind,
    channel,
    credential_id: target.credential_id,
    ...(target.to === undefined ? {} : { to: target.to }),
    ...(host === undefined ? {} : { host }),
    ...(workflowId === null ? {} : { workflow_id: workflowId }),
    ...more,
  };
  await insertAudit(tx, { organisationId, action, by, details });
}
