import type { AlertKind, AlertRule, AlertRuleForm } from '@millrace/admin-api';
import type { TFunction } from 'i18next';

export const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
export type Unit = keyof typeof UNITS;

/** The largest unit that divides a duration. */
export function unitOf(seconds: number): Unit {
  const names = Object.keys(UNITS) as Unit[];
  return names.findLast((name) => seconds > 0 && seconds % UNITS[name] === 0) ?? 'seconds';
}

/** Kinds that are about workflows; the other is about keys and credentials. */
export const hasWorkflow = (kind: AlertKind): boolean => kind !== 'expiring';

const DEFAULT_SECONDS: { readonly [K in AlertKind]: number | null } = {
  failure: null,
  failures: 600,
  recovered: null,
  slow: 300,
  silent: 86_400,
  expiring: 14 * 86_400,
};
const DEFAULT_COUNT = 5;

/** The form after another kind was chosen: with the values that this kind needs. */
export function withKind(form: AlertRuleForm, kind: AlertKind): AlertRuleForm {
  return {
    ...form,
    kind,
    count: kind === 'failures' ? DEFAULT_COUNT : null,
    seconds: DEFAULT_SECONDS[kind],
    workflow_id: hasWorkflow(kind) ? form.workflow_id : null,
  };
}

/** `22:00` as minutes since midnight; null for anything else. */
export function readMinute(text: string): number | null {
  const [, hour, minute] = /^(\d{2}):(\d{2})/.exec(text) ?? [];
  return hour === undefined || minute === undefined ? null : Number(hour) * 60 + Number(minute);
}

export function showMinute(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}

/** When a rule alerts, in words. */
export function conditionText({ kind, count, seconds }: AlertRule, t: TFunction): string {
  const unit = unitOf(seconds ?? 0);
  const duration = t(`alerts.duration.${unit}`, { count: (seconds ?? 0) / UNITS[unit] });
  return t(`alerts.condition.${kind}`, { times: count ?? 0, duration });
}
