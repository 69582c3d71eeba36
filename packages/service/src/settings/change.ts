import type { Body } from '@millrace/admin-api';
import type { Database } from '@millrace/database/database';
import { parseAllowHosts } from '@millrace/egress/allow-hosts';
import { FINAL_STATUSES } from '@millrace/engine';
import { type FieldError, validationError } from '@millrace/errors/errors';
import { type AuditActor, insertAudit } from '@millrace/identity/audit/store';
import { message } from '@millrace/messages';
import { hasWorkflow } from '@millrace/runtime/statements';
import type { RetentionSettings } from '../settings.ts';
import { lockSettings, type SettingsRow, updateSettings } from './store.ts';

export type SettingsChange = Body<'PATCH /orgs/:org/settings'>;

/**
 * Changes an organisation's settings and records it.
 * @throws ApiError 422 with a pointer per error
 */
export async function changeSettings(
  db: Database,
  organisationId: number,
  change: SettingsChange,
  limits: { readonly retention: RetentionSettings },
  by: AuditActor,
): Promise<void> {
  const errors = findMistakes(change, limits);
  if (errors.length > 0) throw validationError(errors);
  await db.forOrganisation(organisationId, async (tx) => {
    const { error_workflow_id: workflowId = null } = change;
    if (workflowId !== null && !(await hasWorkflow(tx, organisationId, workflowId))) {
      throw validationError([unknownWorkflow(workflowId)]);
    }
    const before = await lockSettings(tx, organisationId);
    const after = { ...before, ...toRow(change) };
    const changed = namesOfChanged(before, after);
    if (changed.length === 0) return;
    await updateSettings(tx, organisationId, after);
    const pick = (row: SettingsRow) => Object.fromEntries(changed.map((name) => [name, plain(row[name])]));
    await insertAudit(tx, {
      organisationId,
      action: 'settings.changed',
      by,
      details: { before: pick(before), after: pick(after) },
    });
  });
}

function findMistakes(
  change: SettingsChange,
  { retention }: { readonly retention: RetentionSettings },
): FieldError[] {
  const errors: FieldError[] = [];
  const { time_zone: zone, retention_days: days, allowed_hosts: hosts } = change;
  if (typeof zone === 'string' && !isTimeZone(zone)) {
    const unknown = message('service.time_zone_unknown');
    errors.push({ pointer: '/time_zone', code: 'unknown_timezone', message: unknown });
  }
  for (const status of FINAL_STATUSES) {
    const most = retention.executionsDays[status];
    if ((days?.[status] ?? 0) > most) {
      const tooLong = message('service.retention_too_long', { max: most });
      errors.push({ pointer: `/retention_days/${status}`, code: 'invalid_value', message: tooLong });
    }
  }
  for (const [index, entry] of (hosts ?? []).entries()) {
    if (parseAllowHosts([entry]).problems.length === 0) continue;
    const malformed = message('service.allowed_host_malformed');
    errors.push({ pointer: `/allowed_hosts/${index}`, code: 'invalid_value', message: malformed });
  }
  return errors;
}

function unknownWorkflow(id: number): FieldError {
  const unknown = message('service.workflow_not_found', { id });
  return { pointer: '/error_workflow_id', code: 'workflow_not_found', message: unknown };
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    // Offsets such as +09:00 are accepted too, but have no daylight saving time.
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

/** Only what the change includes. */
function toRow(change: SettingsChange): Partial<SettingsRow> {
  const { time_zone: zone, retention_days: days = {}, requests_per_minute: requests, allowed_hosts } = change;
  const { error_workflow_id } = change;
  const ofDays = FINAL_STATUSES.filter((status) => days[status] !== undefined).map((status) => [
    `retention_days_${status}`,
    days[status],
  ]);
  return {
    ...(zone === undefined ? {} : { time_zone: zone }),
    ...(Object.fromEntries(ofDays) as Partial<SettingsRow>),
    ...(requests === undefined ? {} : { requests_per_minute: requests }),
    ...(allowed_hosts === undefined ? {} : { allowed_hosts: normalHosts(allowed_hosts) }),
    ...(error_workflow_id === undefined ? {} : { error_workflow_id }),
  };
}

function normalHosts(hosts: readonly string[] | null): readonly string[] | null {
  return hosts === null ? null : [...new Set(hosts.map((host) => host.trim().toLowerCase()))].sort();
}

function namesOfChanged(before: SettingsRow, after: SettingsRow): (keyof SettingsRow)[] {
  const names = Object.keys(before) as (keyof SettingsRow)[];
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

function plain(value: SettingsRow[keyof SettingsRow]): string | number | string[] | null {
  return typeof value === 'object' && value !== null ? [...value] : value;
}
