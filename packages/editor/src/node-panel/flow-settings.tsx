import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import { Stack } from '@mantine/core';
import type { Schema } from '@millrace/editor-model/field-shape.ts';
import { useEditorState } from '@millrace/editor-model/store.ts';
import { isJsonObject, type JsonValue, ON_LIMIT, PRIORITIES } from '@millrace/engine';
import { Muted } from '@millrace/ui/components/text.tsx';
import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Field } from '../fields/field.tsx';
import { withMember } from '../form/field-props.ts';
import { FormContext, type FormContextValue } from '../form/form-context.tsx';
import { SETTING_NAMES, type SettingName } from './setting-names.ts';

const SCHEMAS: { readonly [Name in SettingName]: Schema } = {
  display_name: { type: 'string' },
  search_keys: { type: 'object', additionalProperties: { type: 'string' } },
  vars: { type: 'object' },
  input_schema: { type: 'object', 'x-code': 'json', 'x-json-schema': true },
  timezone: { type: 'string', 'x-time-zone': true },
  timeout_s: { type: 'integer', minimum: 1 },
  max_concurrency: { type: 'integer', minimum: 1 },
  concurrency: {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1, maximum: 10_000 },
      key: { type: 'string' },
      on_limit: { type: 'string', enum: [...ON_LIMIT] },
    },
    required: ['limit'],
  },
  rate: {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1, maximum: 100_000 },
      per_seconds: { type: 'integer', minimum: 1, maximum: 86_400 },
      key: { type: 'string' },
    },
    required: ['limit', 'per_seconds'],
  },
  debounce: {
    type: 'object',
    properties: {
      seconds: { type: 'integer', minimum: 1, maximum: 86_400 },
      max_seconds: { type: 'integer', minimum: 1, maximum: 604_800 },
      key: { type: 'string' },
    },
    required: ['seconds'],
  },
  priority: { type: 'string', enum: [...PRIORITIES] },
  token_budget: { type: 'integer', minimum: 1 },
  error_workflow_id: { type: 'integer', 'x-workflow': true },
};

/** The members of a setting with their titles and descriptions. */
function withTexts(schema: Schema, setting: SettingName, t: TFunction): Schema {
  if (setting === 'priority') {
    const labels = PRIORITIES.map((priority) => [priority, t(`forms.priority.${priority}`)]);
    return { ...schema, 'x-labels': Object.fromEntries(labels) };
  }
  const labelsOfLimit = Object.fromEntries(ON_LIMIT.map((mode) => [mode, t(`forms.onLimit.${mode}`)]));
  if (setting !== 'rate' && setting !== 'debounce' && setting !== 'concurrency') return schema;
  const properties = Object.entries(schema.properties as { readonly [name: string]: Schema });
  return {
    ...schema,
    properties: Object.fromEntries(
      properties.map(([name, member]) => [
        name,
        {
          ...member,
          ...(name === 'on_limit' ? { 'x-labels': labelsOfLimit } : {}),
          title: t(`forms.settingMember.${setting}.${name}` as never),
          description: t(`forms.settingMemberAbout.${setting}.${name}` as never),
        },
      ]),
    ),
  };
}

/** Settings of the whole workflow. */
export function FlowSettingsForm() {
  const { t } = useTranslation();
  const { settings, changeSettings, problems, isReadOnly } = useEditorState(
    'settings',
    'changeSettings',
    'problems',
    'isReadOnly',
  );
  const context = useMemo<FormContextValue>(() => {
    const own = problems
      .filter(({ pointer }) => pointer.startsWith('/flow_data/settings'))
      .map(({ pointer, message }) => ({ pointer: pointer.slice('/flow_data/settings'.length), message }));
    return { isReadOnly, takesTemplates: false, problems: own, hints: () => [], preview: () => null };
  }, [problems, isReadOnly]);
  const change = (name: SettingName, value: JsonValue | undefined) =>
    changeSettings((old) => {
      const isEmpty = value !== undefined && isJsonObject(value) && Object.keys(value).length === 0;
      return withMember(old, name, isEmpty ? undefined : value) as typeof old;
    });
  return (
    <FormContext value={context}>
      <Stack gap="md">
        <Muted>{t('forms.settingsAbout')}</Muted>
        {SETTING_NAMES.map((name) => (
          <Field
            key={name}
            name={name}
            schema={{
              ...withTexts(SCHEMAS[name], name, t),
              title: t(`setting.${name}`),
              description: t(`forms.settingAbout.${name}`),
            }}
            value={settings[name]}
            pointer={`/${name}`}
            onChange={(value) => change(name, value)}
          />
        ))}
      </Stack>
    </FormContext>
  );
}
