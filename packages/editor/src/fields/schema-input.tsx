import { Checkbox, Group, NativeSelect, Paper, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../form/form-context.tsx';
import { JsonInput } from './json-input.tsx';
import { AddButton, freeName, RemoveMemberButton } from './member-buttons.tsx';
import { MemberName } from './member-name.tsx';
import {
  FIELD_TYPES,
  type FieldType,
  fieldsOfSchema,
  type SchemaField,
  withFields,
} from './schema-fields.ts';
import { useAddedFocus } from './use-added-focus.ts';

/** An object's JSON Schema as a list of members, or as JSON if a list can't represent it. */
export function SchemaInput({
  value,
  onChange,
  label,
}: {
  value: JsonValue | undefined;
  onChange: (value: JsonValue | undefined) => void;
  label: string;
}) {
  const { t } = useTranslation();
  const [isJson, setIsJson] = useState(false);
  const schema: JsonObject = value !== undefined && isJsonObject(value) ? value : {};
  const fields = value === undefined || isJsonObject(value) ? fieldsOfSchema(schema) : null;
  const change = (next: readonly SchemaField[]) => onChange(withFields(schema, next));
  return (
    <Stack gap={6}>
      <SegmentedControl
        size="xs"
        w="fit-content"
        aria-label={t('forms.kindOf', { label })}
        data={[
          { value: 'fields', label: t('forms.schema.fields'), disabled: fields === null },
          { value: 'json', label: 'JSON' },
        ]}
        value={isJson || fields === null ? 'json' : 'fields'}
        onChange={(next) => setIsJson(next === 'json')}
      />
      {isJson || fields === null ? (
        <JsonInput value={value} onChange={onChange} label={label} />
      ) : (
        <FieldList fields={fields} onChange={change} label={label} />
      )}
    </Stack>
  );
}

function FieldList({
  fields,
  onChange,
  label,
}: {
  fields: readonly SchemaField[];
  onChange: (fields: readonly SchemaField[]) => void;
  label: string;
}) {
  const { t } = useTranslation();
  const names = fields.map(({ name }) => name);
  const { frame, noteAdded } = useAddedFocus(fields.length);
  const add = () => {
    noteAdded();
    onChange([...fields, newField(names)]);
  };
  return (
    <Stack gap="xs" ref={frame}>
      {fields.length === 0 && <Hint>{t('forms.schema.none')}</Hint>}
      {fields.map((field, index) => (
        <FieldRow
          key={index}
          field={field}
          names={names}
          label={label}
          onChange={(next) => onChange(fields.with(index, next))}
          onRemove={() => onChange(fields.filter((_, at) => at !== index))}
        />
      ))}
      <AddButton to={label} onClick={add}>
        {t('forms.addMember')}
      </AddButton>
    </Stack>
  );
}

function newField(names: readonly string[]): SchemaField {
  return { name: freeName(names), type: 'string', description: '', isRequired: false };
}

function FieldRow({
  field,
  names,
  label,
  onChange,
  onRemove,
}: {
  field: SchemaField;
  names: readonly string[];
  label: string;
  onChange: (field: SchemaField) => void;
  onRemove: () => void;
}) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const { name, type, description, isRequired } = field;
  return (
    <Paper withBorder p={6}>
      <Stack gap={4}>
        <Group gap={4} wrap="nowrap" align="flex-start">
          <MemberName
            key={name}
            name={name}
            taken={names}
            onRename={(next) => onChange({ ...field, name: next })}
            label={t('forms.memberName', { label })}
          />
          <NativeSelect
            w={110}
            aria-label={t('forms.schema.typeOf', { name })}
            value={type}
            disabled={isReadOnly}
            onChange={(event) => onChange({ ...field, type: event.currentTarget.value as FieldType })}
            data={FIELD_TYPES.map((each) => ({ value: each, label: t(`forms.schema.type.${each}`) }))}
          />
          <RemoveMemberButton name={name} onClick={onRemove} />
        </Group>
        <Group gap="xs" wrap="nowrap">
          <TextInput
            flex={1}
            aria-label={t('forms.schema.aboutOf', { name })}
            placeholder={t('forms.schema.about')}
            value={description}
            readOnly={isReadOnly}
            onChange={(event) => onChange({ ...field, description: event.currentTarget.value })}
          />
          <Checkbox
            size="xs"
            label={t('forms.schema.required')}
            aria-label={t('forms.schema.requiredOf', { name })}
            checked={isRequired}
            disabled={isReadOnly}
            onChange={(event) => onChange({ ...field, isRequired: event.currentTarget.checked })}
          />
        </Group>
      </Stack>
    </Paper>
  );
}
