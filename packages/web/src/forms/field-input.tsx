import { NumberInput, SegmentedControl, Select, Stack, Switch, TextInput } from '@mantine/core';
import { type JsonValue, parseJson, stringifyJson } from '@millrace/engine';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Code } from '../ui/code.tsx';
import { defaultNote } from './field-frame.tsx';
import type { FieldProps } from './field-props.ts';
import type { FieldShape } from './field-shape.ts';
import { useForm } from './form-context.tsx';
import { CredentialSelect, WorkflowSelect } from './references.tsx';
import { TemplateInput } from './template-input.tsx';

type InputProps = FieldProps & {
  readonly shape: FieldShape;
  readonly id: string;
  readonly describedBy: string;
  readonly label: string;
};

/** The control of a value that has no parts. */
export function FieldInput(props: InputProps) {
  const { shape, schema, value, onChange, id, describedBy, label } = props;
  const { isReadOnly } = useForm();
  const placeholder = defaultNote(schema.default);
  const common = { id, 'aria-describedby': describedBy, disabled: isReadOnly };
  switch (shape.kind) {
    case 'text':
      return <TextField {...props} shape={shape} />;
    case 'any':
      return <AnyField {...props} shape={shape} />;
    case 'number':
      return (
        <NumberInput
          {...common}
          value={typeof value === 'number' ? value : ''}
          onChange={(next) => onChange(typeof next === 'number' ? next : undefined)}
          allowDecimal={!shape.isInteger}
          {...(shape.min === undefined ? {} : { min: shape.min })}
          {...(shape.max === undefined ? {} : { max: shape.max })}
          clampBehavior="none"
          {...(placeholder === undefined ? {} : { placeholder })}
        />
      );
    case 'boolean':
      return (
        <Switch
          {...common}
          size="sm"
          checked={typeof value === 'boolean' ? value : schema.default === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'choice':
      return (
        <Select
          {...common}
          data={[...shape.options]}
          value={typeof value === 'string' ? value : null}
          onChange={(next) => onChange(next ?? undefined)}
          placeholder={placeholder}
          allowDeselect={props.isRequired !== true}
          searchable={shape.options.length > 10}
        />
      );
    case 'credential':
      return (
        <CredentialSelect
          {...common}
          label={label}
          types={shape.types}
          value={idOf(value)}
          onChange={onChange}
        />
      );
    case 'workflow':
      return <WorkflowSelect {...common} label={label} value={idOf(value)} onChange={onChange} />;
    default:
      return null;
  }
}

function idOf(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

function TextField({
  shape,
  schema,
  value,
  onChange,
  id,
  describedBy,
  label,
}: InputProps & { readonly shape: Extract<FieldShape, { kind: 'text' }> }) {
  const { isReadOnly, takesTemplates } = useForm();
  const text = typeof value === 'string' ? value : '';
  const set = (next: string) => onChange(next === '' && schema.minLength === undefined ? undefined : next);
  if (shape.code !== null) {
    return <Code value={text} onChange={set} label={label} language={shape.code} isReadOnly={isReadOnly} />;
  }
  if (takesTemplates) {
    return (
      <TemplateInput
        value={text}
        onChange={set}
        label={label}
        isMultiline={shape.isMultiline}
        placeholder={defaultNote(schema.default)}
      />
    );
  }
  return (
    <TextInput
      id={id}
      aria-describedby={describedBy}
      value={text}
      onChange={(event) => set(event.currentTarget.value)}
      placeholder={defaultNote(schema.default)}
      disabled={isReadOnly}
    />
  );
}

/** Any JSON value: as text, which may be a template, or as JSON. */
function AnyField({
  shape,
  value,
  onChange,
  label,
}: InputProps & { readonly shape: Extract<FieldShape, { kind: 'any' }> }) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const isText = value === undefined || typeof value === 'string';
  const [mode, setMode] = useState<'text' | 'json'>(isText && shape.code === null ? 'text' : 'json');
  const shown = isText ? mode : 'json';
  return (
    <Stack gap={4}>
      {shape.code === null && !isReadOnly && (
        <SegmentedControl
          size="xs"
          w="fit-content"
          aria-label={t('forms.kindOf', { label })}
          data={[
            { value: 'text', label: t('forms.asText') },
            { value: 'json', label: t('forms.asJson') },
          ]}
          value={shown}
          onChange={(next) => {
            setMode(next as 'text' | 'json');
            if (next === 'text' && !isText) onChange(stringifyJson(value));
          }}
        />
      )}
      {shown === 'text' ? (
        <TemplateInput
          value={typeof value === 'string' ? value : ''}
          onChange={(next) => onChange(next === '' ? undefined : next)}
          label={label}
          isMultiline={shape.isMultiline}
        />
      ) : (
        <JsonInput value={value} onChange={onChange} label={label} />
      )}
    </Stack>
  );
}

/** A value as JSON text; what is not JSON yet stays in the field and changes nothing. */
export function JsonInput({
  value,
  onChange,
  label,
}: {
  readonly value: JsonValue | undefined;
  readonly onChange: (value: JsonValue | undefined) => void;
  readonly label: string;
}) {
  const { isReadOnly } = useForm();
  const outer = value === undefined ? '' : JSON.stringify(value, null, 2);
  const [text, setText] = useState(outer);
  const isSame = canonical(text) === canonical(outer);
  const [seen, setSeen] = useState(outer);
  // Somebody else changed the value (undo, an example): the field follows.
  if (outer !== seen) {
    setSeen(outer);
    if (!isSame) setText(outer);
  }
  const change = (next: string) => {
    setText(next);
    if (next.trim() === '') return onChange(undefined);
    try {
      onChange(parseJson(next));
    } catch {
      // Still being typed; the editor marks where it is no JSON.
    }
    return undefined;
  };
  return (
    <Code
      value={text}
      onChange={change}
      label={label}
      language="json"
      isReadOnly={isReadOnly}
      minHeight={60}
    />
  );
}

function canonical(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text.trim() === '' ? '' : null;
  }
}
