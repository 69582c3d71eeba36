import type { JsonObject, JsonValue } from '@millrace/engine';
import { useTranslation } from 'react-i18next';
import { FieldFrame } from './field-frame.tsx';
import { FieldInput } from './field-input.tsx';
import { initialOf, isTemplate, type Schema, shapeOf } from './field-shape.ts';
import { useForm } from './form-context.tsx';
import { StructuredInput } from './structured-input.tsx';
import { TemplateInput } from './template-input.tsx';

export interface FieldProps {
  readonly schema: Schema;
  /** Undefined: left out. */
  readonly value: JsonValue | undefined;
  readonly onChange: (value: JsonValue | undefined) => void;
  /** JSON Pointer of the value in the form's value. */
  readonly pointer: string;
  /** What it is called when its schema has no title. */
  readonly name: string;
  readonly isRequired?: boolean;
}

const STRUCTURED = new Set(['group', 'record', 'list', 'variants']);
/** They take templates as they are. */
const TEXTUAL = new Set(['text', 'any']);

/** One value of a form, drawn by its schema: the value itself, or a template in its place. */
export function Field(props: FieldProps) {
  const { schema, value, onChange, pointer, name, isRequired = false } = props;
  const { t } = useTranslation();
  const { takesTemplates, isReadOnly } = useForm();
  const shape = shapeOf(schema);
  if (shape.kind === 'constant') return null;
  const label = textOf(schema.title) ?? name;
  const isTextual = TEXTUAL.has(shape.kind);
  const isSwitchable = takesTemplates && !isTextual && !['credential', 'workflow'].includes(shape.kind);
  const isOn =
    isSwitchable && (isTemplate(value) || (typeof value === 'string' && STRUCTURED.has(shape.kind)));
  const toggle = () => onChange(isOn ? initialOf(schema) : '{{}}');
  const text = typeof value === 'string' && takesTemplates ? value : null;
  return (
    <FieldFrame
      label={label}
      description={textOf(schema.description)}
      pointer={pointer}
      isRequired={isRequired}
      templateSwitch={isSwitchable ? { isOn, onToggle: toggle } : null}
      onClear={!isRequired && value !== undefined && !isReadOnly ? () => onChange(undefined) : undefined}
      text={isOn || isTextual ? text : null}
    >
      {({ id, describedBy }) => {
        if (isOn) {
          return (
            <TemplateInput
              value={value as string}
              onChange={onChange}
              label={t('forms.templateOf', { label })}
            />
          );
        }
        if (STRUCTURED.has(shape.kind)) return <StructuredInput {...props} shape={shape} label={label} />;
        return <FieldInput {...props} shape={shape} id={id} describedBy={describedBy} label={label} />;
      }}
    </FieldFrame>
  );
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The object with one member changed; undefined takes it out. */
export function withMember(object: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  const others = Object.entries(object).filter(([each]) => each !== name);
  if (value === undefined) return Object.fromEntries(others);
  return name in object
    ? Object.fromEntries(Object.entries(object).map(([each, old]) => [each, each === name ? value : old]))
    : Object.fromEntries([...others, [name, value]]);
}
