import { Stack, Text } from '@mantine/core';
import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useEditor } from '../canvas/store.ts';
import { Field } from './field.tsx';
import { withMember } from './field-props.ts';
import type { Schema } from './field-shape.ts';
import { FormContext, type FormContextValue } from './form-context.tsx';

/** Members of `flow_data.settings` that the form shows; others are kept as they are. */
const SETTINGS: readonly { readonly name: SettingName; readonly schema: Schema }[] = [
  { name: 'display_name', schema: { type: 'string' } },
  { name: 'vars', schema: { type: 'object' } },
  { name: 'input_schema', schema: { type: 'object', 'x-code': 'json', 'x-json-schema': true } },
  { name: 'timezone', schema: { type: 'string', 'x-time-zone': true } },
  { name: 'timeout_s', schema: { type: 'integer', minimum: 1 } },
  { name: 'max_concurrency', schema: { type: 'integer', minimum: 1 } },
  { name: 'token_budget', schema: { type: 'integer', minimum: 1 } },
  { name: 'error_workflow_id', schema: { type: 'integer', 'x-workflow': true } },
];

type SettingName =
  | 'display_name'
  | 'vars'
  | 'input_schema'
  | 'timezone'
  | 'timeout_s'
  | 'max_concurrency'
  | 'token_budget'
  | 'error_workflow_id';

/** What holds for the workflow as a whole. */
export function FlowSettingsForm() {
  const { t } = useTranslation();
  const settings = useEditor((state) => state.settings) as unknown as JsonObject;
  const changeSettings = useEditor((state) => state.changeSettings);
  const problems = useEditor((state) => state.problems);
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const context = useMemo<FormContextValue>(() => {
    const own = problems
      .filter(({ pointer }) => pointer.startsWith('/flow_data/settings'))
      .map(({ pointer, message }) => ({ pointer: pointer.slice('/flow_data/settings'.length), message }));
    return { isReadOnly, takesTemplates: false, problems: own, hints: () => [], preview: () => null };
  }, [problems, isReadOnly]);
  const change = (name: SettingName, value: JsonValue | undefined) =>
    changeSettings((old) => {
      const isEmpty = value !== undefined && isJsonObject(value) && Object.keys(value).length === 0;
      return withMember(old as unknown as JsonObject, name, isEmpty ? undefined : value) as typeof old;
    });
  return (
    <FormContext value={context}>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t('forms.settingsAbout')}
        </Text>
        {SETTINGS.map(({ name, schema }) => (
          <Field
            key={name}
            name={name}
            schema={{
              ...schema,
              title: t(`forms.setting.${name}`),
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
