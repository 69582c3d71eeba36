import { Group, NativeSelect, Stack } from '@mantine/core';
import { type FieldShape, isTemplate } from '@millrace/editor-model/field-shape.ts';
import {
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonValue,
  stringifyJson,
  tryParseJson,
} from '@millrace/engine';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { FieldComponent, InputProps } from '../form/field-props.ts';
import { useForm, useTakesTemplates } from '../form/form-context.tsx';
import { useAlternatives } from '../form/use-alternatives.ts';
import { TemplateInput } from '../templates/template-input.tsx';
import { JsonInput } from './json-input.tsx';
import { ListInput } from './list-input.tsx';
import { NumberBox } from './number-box.tsx';
import { RecordInput } from './record-input.tsx';
import { RowsTarget } from './rows-target.tsx';
import { SchemaInput } from './schema-input.tsx';

const KINDS = ['text', 'number', 'boolean', 'object', 'list', 'null', 'json'] as const;
type Kind = (typeof KINDS)[number];

type AnyInputProps = InputProps & {
  Field: FieldComponent;
  shape: Extract<FieldShape, { kind: 'any' }>;
};

/** Any JSON value: a choice of kind, then that kind's control. Strings may be templates. */
export function AnyInput(props: AnyInputProps) {
  const { shape, schema, value, onChange, label } = props;
  if (schema['x-json-schema'] === true)
    return <SchemaInput value={value} onChange={onChange} label={label} />;
  if (shape.code !== null) return <JsonInput value={value} onChange={onChange} label={label} />;
  return <KindInput {...props} />;
}

function KindInput(props: AnyInputProps) {
  const { shape, schema, value, onChange, label } = props;
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const own = kindOf(value);
  // JSON is an alternative notation for the other kinds.
  const [isJson, setIsJson] = useState(own === 'json');
  const kind = isJson ? 'json' : own;
  const allowed = kindsOf(schema.type);
  const alternatives = useAlternatives(value, onChange);
  const choose = (next: Kind) => {
    setIsJson(next === 'json');
    if (next !== 'json' && next !== own) alternatives.switchTo(own, next, () => converted(value, next));
  };
  const select = (
    <NativeSelect
      size="xs"
      w={112}
      style={{ flexShrink: 0 }}
      aria-label={t('forms.kindOf', { label })}
      disabled={isReadOnly}
      value={kind}
      onChange={(event) => choose(event.currentTarget.value as Kind)}
      data={KINDS.filter((each) => each === kind || allowed.includes(each)).map((each) => ({
        value: each,
        label: t(`forms.kind.${each === 'text' && isTemplate(value) ? 'template' : each}`),
      }))}
    />
  );
  const isEmpty = kind === 'text' && (value === undefined || value === '') && allowed.includes('list');
  const takeRows = (rows: readonly JsonValue[]) => {
    setIsJson(rows.length > MAX_ITEMS_WITH_FIELDS);
    onChange(rows);
  };
  const isShort = !shape.isMultiline && ['text', 'number', 'boolean', 'null'].includes(kind);
  const control = <Control {...props} kind={kind} />;
  if (!isShort) {
    return (
      <RowsTarget isReady={isEmpty} onRows={takeRows}>
        <Stack gap={4}>
          {select}
          {control}
        </Stack>
      </RowsTarget>
    );
  }
  return (
    <RowsTarget isReady={isEmpty} onRows={takeRows}>
      <Group gap={4} wrap="nowrap" align="flex-start">
        {select}
        <div style={{ flex: 1, minWidth: 0 }}>{control}</div>
      </Group>
    </RowsTarget>
  );
}

/** More pasted rows are shown as JSON. */
const MAX_ITEMS_WITH_FIELDS = 50;

function Control({ kind, ...props }: AnyInputProps & { kind: Kind }) {
  const { value, onChange, label, Field, pointer } = props;
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const common = { Field, onChange, pointer, label };
  switch (kind) {
    case 'text':
      return <TextControl {...props} />;
    case 'number':
      return (
        <NumberBox aria-label={label} value={value} empty={0} onChange={onChange} disabled={isReadOnly} />
      );
    case 'boolean':
      return (
        <NativeSelect
          aria-label={label}
          value={value === true ? 'true' : 'false'}
          disabled={isReadOnly}
          onChange={(event) => onChange(event.currentTarget.value === 'true')}
          data={['true', 'false'].map((each) => ({
            value: each,
            label: t(`forms.boolean.${each as 'true' | 'false'}`),
          }))}
        />
      );
    case 'list':
      return <ListInput {...common} item={{}} value={isList(value) ? value : []} />;
    case 'object':
      return <RecordInput {...common} member={{}} value={isObject(value) ? value : {}} />;
    case 'null':
      return <Hint pt={6}>{t('forms.nullAbout')}</Hint>;
    default:
      return <JsonInput value={value} onChange={onChange} label={label} />;
  }
}

function TextControl({ value, onChange, label, shape, pointer, takesFocus = false }: AnyInputProps) {
  const takesTemplates = useTakesTemplates(pointer);
  return (
    <TemplateInput
      value={typeof value === 'string' ? value : ''}
      onChange={(next) => onChange(next === '' ? undefined : next)}
      label={label}
      isMultiline={shape.isMultiline}
      takesLines
      isPlain={!takesTemplates}
      takesFocus={takesFocus}
    />
  );
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return value !== undefined && isJsonArray(value);
}

function isObject(value: JsonValue | undefined) {
  return value !== undefined && isJsonObject(value);
}

/** The kind of a value; undefined is an empty string. */
function kindOf(value: JsonValue | undefined): Kind {
  if (value === undefined || typeof value === 'string') return 'text';
  if (value === null) return 'null';
  if (isRawNumber(value)) return 'number';
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value as 'number' | 'boolean';
  return isJsonArray(value) ? 'list' : 'object';
}

/** The kinds that a schema's types allow; all if it names no type. */
function kindsOf(type: JsonValue | undefined): readonly Kind[] {
  if (!Array.isArray(type)) return KINDS;
  const names: { readonly [type: string]: Kind } = { string: 'text', array: 'list', integer: 'number' };
  return [...type.map((each) => names[String(each)] ?? (String(each) as Kind)), 'json'];
}

/** A value converted to another kind, preserving its content where possible. */
function converted(value: JsonValue | undefined, kind: Exclude<Kind, 'json'>): JsonValue | undefined {
  const text = typeof value === 'string' ? value : '';
  switch (kind) {
    case 'text':
      return value === null || value === undefined ? undefined : stringifyJson(value);
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : 0;
    case 'boolean':
      return text !== 'false';
    case 'list': {
      const list = tryParseJson(text);
      if (list !== undefined && isJsonArray(list)) return list;
      return value === undefined || value === null || text === '{{}}' ? [] : [value];
    }
    case 'object': {
      const object = tryParseJson(text);
      return object !== undefined && isJsonObject(object) ? object : {};
    }
    default:
      return null;
  }
}
