import { Group, NumberInput, Select, Stack, Switch, TextInput } from '@mantine/core';
import {
  ALERT_KINDS,
  type AlertChannel,
  type AlertKind,
  type AlertRule,
  type AlertRuleForm,
} from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { notifyUnlessOfFields, useChange } from '@millrace/ui/components/use-change.ts';
import { WorkflowSelect } from '@millrace/ui/components/workflow-select.tsx';
import { isLanguage, LANGUAGES } from '@millrace/ui/i18n/languages.ts';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { problemOf } from '../settings/save-settings.ts';
import { hasWorkflow, readMinute, showMinute, withKind } from './alert-text.ts';
import { DurationInput } from './duration-input.tsx';
import { TargetFields } from './target-fields.tsx';

const GROUP_SECONDS = 900;
const NIGHT = { from: 22 * 60, to: 7 * 60 };

function newForm(language: string): AlertRuleForm {
  return {
    ...{ name: '', kind: 'failure', workflow_id: null, count: null, seconds: null, channel: 'mail' },
    target: { credential_id: 0 },
    language: isLanguage(language) ? language : 'en',
    ...{ group_seconds: GROUP_SECONDS, quiet_hours: null, is_enabled: true },
  };
}

function formOf(rule: AlertRule): AlertRuleForm {
  const { name, kind, workflow_id, count, seconds, channel, target, language } = rule;
  const { group_seconds, quiet_hours, is_enabled } = rule;
  return {
    ...{ name, kind, workflow_id, count, seconds, channel, target, language },
    ...{ group_seconds, quiet_hours, is_enabled },
  };
}

/** Adds a rule, or changes one. */
export function RuleDialog({ rule, onClose }: { rule: AlertRule | null; onClose: () => void }) {
  const { t, i18n } = useTranslation();
  const [form, setForm] = useState(() => (rule === null ? newForm(i18n.language) : formOf(rule)));
  const save = useSaveRule(rule, onClose);
  const change = (part: Partial<AlertRuleForm>) => setForm({ ...form, ...part });
  const isComplete =
    form.name.trim() !== '' &&
    form.target.credential_id !== 0 &&
    (form.kind !== 'silent' || form.workflow_id !== null);
  return (
    <FormDialog
      title={rule === null ? t('alerts.add') : t('alerts.editTitle', { name: rule.name })}
      action={rule === null ? t('alerts.addAction') : t('common.save')}
      isBusy={save.isPending}
      isReady={isComplete}
      onSubmit={() => save.mutate(form)}
      onClose={onClose}
    >
      <TextInput
        data-autofocus
        label={t('alerts.name')}
        description={t('alerts.nameHint')}
        value={form.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={problemOf(save.error, '/name')}
        maxLength={255}
        autoComplete="off"
        required
      />
      <ConditionFields form={form} setForm={setForm} error={save.error} />
      <TargetFields
        key={form.channel}
        channel={form.channel}
        target={form.target}
        onChannel={(channel: AlertChannel) => change({ channel, target: { credential_id: 0 } })}
        onTarget={(target) => change({ target })}
        error={problemOf(save.error, '/target')}
      />
      <Select
        label={t('alerts.language')}
        data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
        value={form.language}
        onChange={(language) => isLanguage(language) && change({ language })}
        allowDeselect={false}
      />
      <DurationInput
        label={t('alerts.group')}
        description={t('alerts.groupHint')}
        seconds={form.group_seconds}
        min={0}
        onChange={(seconds) => change({ group_seconds: seconds })}
      />
      <QuietHours hours={form.quiet_hours} onChange={(hours) => change({ quiet_hours: hours })} />
    </FormDialog>
  );
}

function useSaveRule(rule: AlertRule | null, onClose: () => void) {
  const { t } = useTranslation();
  const org = useOrg();
  return useChange(
    (body: AlertRuleForm) =>
      rule === null
        ? call('POST /orgs/:org/alert-rules', { params: { org }, body })
        : call('PATCH /orgs/:org/alert-rules/:rule', { params: { org, rule: rule.id }, body }),
    {
      done: ({ name }) => t('alerts.saved', { name }),
      refreshes: ['GET /orgs/:org/alert-rules'],
      onSuccess: onClose,
      onError: notifyUnlessOfFields,
    },
  );
}

/** What the rule is about. */
function ConditionFields({
  form,
  setForm,
  error,
}: {
  form: AlertRuleForm;
  setForm: (form: AlertRuleForm) => void;
  error: Error | null;
}) {
  const { t } = useTranslation();
  const { kind, count, seconds } = form;
  return (
    <>
      <Select
        label={t('alerts.kind')}
        description={t(`alerts.kindHint.${kind}`)}
        data={ALERT_KINDS.map((value) => ({ value, label: t(`alerts.kinds.${value}`) }))}
        value={kind}
        onChange={(next) => setForm(withKind(form, (next ?? 'failure') as AlertKind))}
        allowDeselect={false}
      />
      {count !== null && (
        <NumberInput
          label={t('alerts.count')}
          value={count}
          onChange={(next) => setForm({ ...form, count: typeof next === 'number' ? next : 2 })}
          error={problemOf(error, '/count')}
          min={2}
          max={1_000}
          allowDecimal={false}
        />
      )}
      {seconds !== null && (
        <DurationInput
          key={kind}
          label={t(`alerts.seconds.${kind === 'failure' || kind === 'recovered' ? 'slow' : kind}`)}
          seconds={seconds}
          onChange={(next) => setForm({ ...form, seconds: next })}
        />
      )}
      {hasWorkflow(kind) && (
        <WorkflowSelect
          label={t('alerts.workflow')}
          placeholder={kind === 'silent' ? t('alerts.workflowRequired') : t('alerts.allWorkflows')}
          id={form.workflow_id}
          onChange={(id) => setForm({ ...form, workflow_id: id })}
          error={problemOf(error, '/workflow_id')}
          required={kind === 'silent'}
        />
      )}
    </>
  );
}

function QuietHours({
  hours,
  onChange,
}: {
  hours: AlertRuleForm['quiet_hours'];
  onChange: (hours: AlertRuleForm['quiet_hours']) => void;
}) {
  const { t } = useTranslation();
  const set = (end: 'from' | 'to', text: string) => {
    const minute = readMinute(text);
    if (hours !== null && minute !== null) onChange({ ...hours, [end]: minute });
  };
  return (
    <Stack gap="xs">
      <Switch
        size="xs"
        label={t('alerts.quiet')}
        description={t('alerts.quietHint')}
        checked={hours !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? NIGHT : null)}
      />
      {hours !== null && (
        <Group grow gap="xs">
          {(['from', 'to'] as const).map((end) => (
            <TextInput
              key={end}
              type="time"
              label={t(`alerts.quietEnds.${end}`)}
              value={showMinute(hours[end])}
              onChange={(event) => set(end, event.currentTarget.value)}
              required
            />
          ))}
        </Group>
      )}
    </Stack>
  );
}
