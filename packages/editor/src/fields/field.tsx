import { Paper, Skeleton } from '@mantine/core';
import {
  type FieldShape,
  initialOf,
  isTemplate,
  isTextVariant,
  shapeOf,
} from '@millrace/editor-model/field-shape.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { FieldComponent, FieldProps } from '../form/field-props.ts';
import { useForm, useTakesTemplates } from '../form/form-context.tsx';
import { useAlternatives } from '../form/use-alternatives.ts';
import { TemplateInput } from '../templates/template-input.tsx';
import { FieldFrame } from './field-frame.tsx';
import { FieldInput } from './field-input.tsx';
import { GroupFields } from './group-fields.tsx';
import { ListInput } from './list-input.tsx';
import { freeName } from './member-buttons.tsx';
import { RecordInput } from './record-input.tsx';
import { VariantInput } from './variant-input.tsx';

/** Loaded with the first agent: it draws the nodes it calls. */
const ToolCards = lazyPart(
  async () => (await import('./tool-cards.tsx')).ToolCards,
  () => <Skeleton h={56} />,
);

const STRUCTURED = new Set(['group', 'record', 'list', 'variants']);
/** Shapes whose control accepts templates directly. */
function isTextual(shape: FieldShape): boolean {
  return shape.kind === 'any' || (shape.kind === 'text' && shape.helper === null);
}

/** A form field generated from a schema: the value itself, or a template in its place. */
export function Field(props: FieldProps) {
  const shape = shapeOf(props.schema);
  // A constant leaves nothing to choose.
  return shape.kind === 'constant' ? null : <OpenField {...props} shape={shape} />;
}

function OpenField(props: FieldProps & { shape: FieldShape }) {
  const { shape, schema, value, pointer, name, isRequired = false } = props;
  const alternatives = useAlternatives(value, props.onChange);
  const onChange = alternatives.set;
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const takesTemplates = useTakesTemplates(pointer);
  const label = textOf(schema.title) ?? name;
  const takesThemAnyway = isTextual(shape);
  const isSwitchable =
    takesTemplates &&
    !takesThemAnyway &&
    !hasTextVariant(shape) &&
    !['credential', 'workflow'].includes(shape.kind);
  // A template that is still being typed isn't a template yet.
  const [isWriting, setIsWriting] = useState(false);
  const isOn =
    isSwitchable && typeof value === 'string' && (isWriting || isTemplate(value) || !takesText(shape));
  /** Data was inserted, and goes on where it was. */
  const [isInserted, setIsInserted] = useState(false);
  const toggle = () => {
    setIsInserted(false);
    setIsWriting(!isOn);
    if (isOn) alternatives.switchTo('template', 'value', () => initialOf(schema));
    else alternatives.switchTo('value', 'template', () => '{{}}');
  };
  const inserted = isSwitchable || isPlainValue(shape, value) ? withInserted(shape, value) : null;
  const insert = (path: string) => {
    setIsInserted(true);
    alternatives.replace('value', inserted?.(`{{${path}}}`, path));
  };
  const isToFill = schema['x-filled'] === true && isBlank(value);
  const text = typeof value === 'string' && takesTemplates ? value : null;
  return (
    <FieldFrame
      label={label}
      description={textOf(schema.description)}
      pointer={pointer}
      isRequired={isRequired}
      templateSwitch={isSwitchable ? { isOn, onToggle: toggle } : null}
      onClear={!isRequired && value !== undefined && !isReadOnly ? () => onChange(undefined) : undefined}
      isTyped={isOn || ['text', 'number'].includes(shape.kind)}
      text={isOn || takesThemAnyway ? text : null}
      isBare={props.isBare === true}
      isInner={props.isInner === true}
      isWhole={schema['x-code'] === 'json'}
      isToFill={isToFill}
      onInsert={takesTemplates && !isOn && inserted !== null ? insert : undefined}
      actions={props.actions}
    >
      {({ id, describedBy }) => {
        if (isOn) {
          return (
            <TemplateInput
              value={value as string}
              onChange={onChange}
              label={t('forms.templateOf', { label })}
              takesFocus={isInserted}
            />
          );
        }
        if (STRUCTURED.has(shape.kind))
          return <StructuredInput {...props} onChange={onChange} Field={Field} label={label} />;
        return (
          <FieldInput
            {...props}
            takesFocus={isInserted || props.takesFocus === true}
            onChange={onChange}
            Field={Field}
            id={id}
            describedBy={describedBy}
            label={label}
          />
        );
      }}
    </FieldFrame>
  );
}

/** Whether a value that must be filled in still isn't; 0 is no credential. */
function isBlank(value: JsonValue | undefined): boolean {
  return value === undefined || value === '' || value === 0 || (isJsonArray(value) && value.length === 0);
}

/** Whether any value is allowed, and it is none that has fields of its own or takes templates as it is. */
function isPlainValue(shape: FieldShape, value: JsonValue | undefined): boolean {
  return shape.kind === 'any' && shape.code === null && value !== undefined && typeof value !== 'string';
}

type Inserted = (template: string, path: string) => JsonValue;

/** What a value becomes when data is inserted: the template, or what was there and the template; null if it can't be either. */
function withInserted(shape: FieldShape, value: JsonValue | undefined): Inserted | null {
  if (isJsonArray(value) && value.length > 0) {
    const takesIt = shape.kind === 'any' || (shape.kind === 'list' && isTextual(shapeOf(shape.item)));
    return takesIt ? (template) => [...value, template] : null;
  }
  if (isJsonObject(value) && Object.keys(value).length > 0) {
    const takesIt = shape.kind === 'any' || (shape.kind === 'record' && isTextual(shapeOf(shape.member)));
    return takesIt ? (template, path) => ({ ...value, [memberName(value, path)]: template }) : null;
  }
  return (template) => template;
}

/** The last name in a path, unless there is such a member. */
function memberName(value: JsonObject, path: string): string {
  const name = /(?:^|\.)(\w+)$/.exec(path)?.[1] ?? '';
  return name === '' || Object.hasOwn(value, name) ? freeName(Object.keys(value)) : name;
}

/** Whether one of the shapes to choose from is text, where templates are written like any other text. */
function hasTextVariant(shape: FieldShape): boolean {
  return shape.kind === 'variants' && shape.variants.some(isTextVariant);
}

/** Whether a string is valid for this shape. */
function takesText(shape: FieldShape): boolean {
  if (shape.kind === 'choice' || shape.kind === 'text') return true;
  return shape.kind === 'variants' && shape.variants.some(({ name }) => name === 'string');
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

type StructuredProps = FieldProps & {
  Field: FieldComponent;
  shape: FieldShape;
  label: string;
};

/** The control for an object or array. */
function StructuredInput(props: StructuredProps) {
  const { Field, shape, value, onChange, pointer, label } = props;
  const common = { Field, onChange, pointer, label };
  // What applies as long as nothing is set, and what a change begins with.
  const shown = value ?? props.schema.default;
  switch (shape.kind) {
    case 'group':
      return (
        <Paper withBorder p="xs">
          <GroupFields {...common} shape={shape} value={objectOf(shown)} />
        </Paper>
      );
    case 'record':
      return <RecordInput {...common} member={shape.member} value={objectOf(shown)} />;
    case 'list': {
      const List = props.schema['x-tools'] === true ? ToolCards : ListInput;
      return <List {...common} item={shape.item} value={listOf(shown)} />;
    }
    case 'variants':
      return <VariantInput {...common} shape={shape} value={value} />;
    default:
      return null;
  }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return value !== undefined && isJsonArray(value) ? value : [];
}
