import { Select, Switch, Textarea, TextInput } from '@mantine/core';
import type { FieldShape, Schema } from '@millrace/editor-model/field-shape.ts';
import type { JsonValue } from '@millrace/engine';
import { Code } from '@millrace/ui/components/code.tsx';
import { useTranslation } from 'react-i18next';
import type { FieldComponent, InputProps } from '../form/field-props.ts';
import { useForm, useTakesTemplates } from '../form/form-context.tsx';
import { CronInput } from '../schedule/cron-input.tsx';
import { MomentInput, TimeZoneInput } from '../schedule/moment-input.tsx';
import { CredentialSelect, WorkflowSelect } from '../templates/references.tsx';
import { TemplateInput } from '../templates/template-input.tsx';
import { amountSection } from './amount-section.tsx';
import { AnyInput } from './any-input.tsx';
import { defaultNote } from './field-frame.tsx';
import { formatAmount } from './format-amount.ts';
import { NumberBox } from './number-box.tsx';

/** The control for a scalar value. */
export function FieldInput(props: InputProps & { shape: FieldShape; Field: FieldComponent }) {
  const { shape, schema, value, onChange, id, describedBy, label } = props;
  const { isReadOnly } = useForm();
  const common = { id, 'aria-describedby': describedBy, disabled: isReadOnly };
  switch (shape.kind) {
    case 'text':
      return <TextField {...props} shape={shape} />;
    case 'any':
      return <AnyInput {...props} shape={shape} />;
    case 'number':
      return <NumberField {...props} shape={shape} />;
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
          {...(props.isBare === true ? { 'aria-label': label } : {})}
          data={[...shape.options]}
          value={typeof value === 'string' ? value : null}
          onChange={(next) => onChange(next ?? undefined)}
          placeholder={shape.options.find((option) => option.value === schema.default)?.label}
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
          dialects={shape.dialects}
          isNeeded={schema['x-filled'] === true}
          schema={schema}
          pointer={props.pointer}
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

/** An example of what to write, else the default. */
function placeholderOf(schema: Schema): string | undefined {
  const example = schema['x-placeholder'];
  return typeof example === 'string' ? example : defaultNote(schema.default);
}

function idOf(value: JsonValue | undefined): number | null {
  // 0 means none.
  return typeof value === 'number' && value !== 0 ? value : null;
}

type Of<Kind extends FieldShape['kind']> = InputProps & {
  readonly shape: Extract<FieldShape, { kind: Kind }>;
};

function NumberField({ shape, schema, name, value, onChange, id, describedBy, label, isBare }: Of<'number'>) {
  const { i18n } = useTranslation();
  const { isReadOnly } = useForm();
  const shown = typeof value === 'number' ? value : schema.default;
  const amount = typeof shown === 'number' ? formatAmount(name, shown, i18n.language) : null;
  return (
    <NumberBox
      id={id}
      aria-describedby={describedBy}
      {...(isBare === true ? { 'aria-label': label } : {})}
      disabled={isReadOnly}
      value={value}
      onChange={onChange}
      {...(shape.min === undefined ? {} : { min: shape.min })}
      {...(shape.max === undefined ? {} : { max: shape.max })}
      placeholder={defaultNote(schema.default) ?? ''}
      {...amountSection(amount)}
    />
  );
}

function TextField(props: Of<'text'>) {
  const { shape, schema, value, onChange, id, describedBy, label, pointer, isBare } = props;
  const { isReadOnly } = useForm();
  const takesTemplates = useTakesTemplates(pointer);
  const text = typeof value === 'string' ? value : '';
  const set = (next: string) => onChange(next === '' && schema.minLength === undefined ? undefined : next);
  if (shape.code !== null) {
    return <Code value={text} onChange={set} label={label} language={shape.code} isReadOnly={isReadOnly} />;
  }
  if (shape.helper !== null) {
    const Helper = { cron: CronInput, 'time-zone': TimeZoneInput, moment: MomentInput }[shape.helper];
    return (
      <Helper
        id={id}
        describedBy={describedBy}
        label={label}
        value={text}
        onChange={(next) => onChange(next === '' ? undefined : next)}
        placeholder={defaultNote(schema.default) ?? ''}
        isDisabled={isReadOnly}
      />
    );
  }
  if (takesTemplates) {
    return (
      <TemplateInput
        value={text}
        onChange={set}
        label={label}
        isMultiline={shape.isMultiline}
        placeholder={placeholderOf(schema)}
      />
    );
  }
  // Single-line inputs strip line breaks.
  const Plain = shape.isMultiline || text.includes('\n') ? Textarea : TextInput;
  return (
    <Plain
      {...(props.takesFocus === true ? { 'data-autofocus': true } : {})}
      id={id}
      aria-describedby={describedBy}
      {...(isBare === true ? { 'aria-label': label } : {})}
      value={text}
      onChange={(event) => set(event.currentTarget.value)}
      placeholder={placeholderOf(schema)}
      disabled={isReadOnly}
    />
  );
}
