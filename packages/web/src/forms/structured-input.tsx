import {
  ActionIcon,
  Button,
  Collapse,
  Group,
  Paper,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
  UnstyledButton,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, joinPointer } from '@millrace/engine';
import { ArrowDown, ArrowUp, ChevronRight, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type FieldComponent, type FieldProps, withMember } from './field-props.ts';
import {
  type FieldShape,
  initialOf,
  type NamedField,
  type Schema,
  shapeOf,
  variantOf,
} from './field-shape.ts';
import { useForm } from './form-context.tsx';

interface WithField {
  readonly Field: FieldComponent;
}

type StructuredProps = FieldProps & WithField & { readonly shape: FieldShape; readonly label: string };

/** The control of a value that has parts. */
export function StructuredInput(props: StructuredProps) {
  const { Field, shape, value, onChange, pointer, label } = props;
  switch (shape.kind) {
    case 'group':
      return (
        <Paper withBorder p="xs">
          <GroupFields
            Field={Field}
            fields={shape.fields}
            value={objectOf(value)}
            onChange={onChange}
            pointer={pointer}
          />
        </Paper>
      );
    case 'record':
      return (
        <RecordInput
          Field={Field}
          member={shape.member}
          value={objectOf(value)}
          onChange={onChange}
          pointer={pointer}
          label={label}
        />
      );
    case 'list':
      return (
        <ListInput
          Field={Field}
          item={shape.item}
          value={value !== undefined && isJsonArray(value) ? value : []}
          onChange={onChange}
          pointer={pointer}
          label={label}
        />
      );
    case 'variants':
      return <VariantInput {...props} shape={shape} />;
    default:
      return null;
  }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

interface GroupFieldsProps extends WithField {
  readonly fields: readonly NamedField[];
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
  readonly pointer: string;
}

/** The members of an object: those that must be or are there, and behind a button those that may be. */
export function GroupFields({ Field, fields, value, onChange, pointer }: GroupFieldsProps) {
  const { t } = useTranslation();
  const shown = fields.filter(({ schema }) => shapeOf(schema).kind !== 'constant');
  // What is shown first does not move while one types.
  const [first] = useState(
    () => new Set(shown.filter((field) => isShownFirst(field, value, shown.length)).map(({ name }) => name)),
  );
  const main = shown.filter(({ name }) => first.has(name));
  const others = shown.filter(({ name }) => !first.has(name));
  const [isOpen, { toggle }] = useDisclosure(false);
  const draw = ({ name, schema, isRequired }: NamedField) => (
    <Field
      key={name}
      name={name}
      schema={schema}
      isRequired={isRequired}
      value={value[name]}
      pointer={joinPointer(pointer, name)}
      onChange={(next) => onChange(withMember(value, name, next))}
    />
  );
  return (
    <Stack gap="sm">
      {main.map(draw)}
      {others.length > 0 && (
        <div>
          <UnstyledButton onClick={toggle} aria-expanded={isOpen} fz="xs" c="dimmed" py={2}>
            <Group gap={4}>
              <ChevronRight
                size={14}
                aria-hidden
                style={{ transform: isOpen ? 'rotate(90deg)' : undefined }}
              />
              {t('forms.moreFields', { count: others.length })}
            </Group>
          </UnstyledButton>
          <Collapse expanded={isOpen}>
            <Stack gap="sm" pt="xs">
              {others.map(draw)}
            </Stack>
          </Collapse>
        </div>
      )}
    </Stack>
  );
}

const FEW_FIELDS = 4;

function isShownFirst({ name, isRequired }: NamedField, value: JsonObject, count: number): boolean {
  return isRequired || value[name] !== undefined || count <= FEW_FIELDS;
}

/** Members with names of one's own. */
function RecordInput({
  Field,
  member,
  value,
  onChange,
  pointer,
  label,
}: WithField & {
  readonly member: Schema;
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
  readonly pointer: string;
  readonly label: string;
}) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const entries = Object.entries(value);
  const rename = (from: string, to: string) =>
    onChange(Object.fromEntries(entries.map(([name, each]) => [name === from ? to : name, each])));
  return (
    <Stack gap="xs">
      {entries.map(([name, each], index) => (
        <Paper key={`${pointer} ${index}`} withBorder p="xs">
          <Stack gap={4}>
            <Group gap={4} wrap="nowrap">
              <MemberName
                name={name}
                taken={entries.map(([other]) => other)}
                onRename={(to) => rename(name, to)}
                label={t('forms.memberName', { label })}
              />
              {!isReadOnly && (
                <ActionIcon
                  size="sm"
                  color="red"
                  onClick={() => onChange(withMember(value, name, undefined))}
                  aria-label={t('forms.removeMember', { name })}
                >
                  <Trash2 size={14} />
                </ActionIcon>
              )}
            </Group>
            <Field
              schema={{ ...member, title: t('forms.valueOf', { name }) }}
              name={name}
              value={each}
              isRequired
              pointer={joinPointer(pointer, name)}
              onChange={(next) => onChange(withMember(value, name, next ?? ''))}
            />
          </Stack>
        </Paper>
      ))}
      {!isReadOnly && (
        <Button
          variant="default"
          w="fit-content"
          leftSection={<Plus size={14} />}
          aria-label={t('forms.addTo', { label })}
          onClick={() => onChange({ ...value, [freeName(value)]: initialOf(member) })}
        >
          {t('forms.addMember')}
        </Button>
      )}
    </Stack>
  );
}

/** Renamed when one leaves the field, so that a name half typed collides with none. */
function MemberName({
  name,
  taken,
  onRename,
  label,
}: {
  readonly name: string;
  readonly taken: readonly string[];
  readonly onRename: (name: string) => void;
  readonly label: string;
}) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const [text, setText] = useState(name);
  const isTaken = text !== name && taken.includes(text);
  return (
    <TextInput
      flex={1}
      aria-label={label}
      value={text}
      readOnly={isReadOnly}
      error={isTaken ? t('forms.nameTaken') : null}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={() => (text === name || isTaken || text === '' ? setText(name) : onRename(text))}
    />
  );
}

function freeName(value: JsonObject): string {
  for (let number = Object.keys(value).length + 1; ; number += 1) {
    if (!(`field_${number}` in value)) return `field_${number}`;
  }
}

/** Items in their order. */
function ListInput({
  Field,
  item,
  value,
  onChange,
  pointer,
  label,
}: WithField & {
  readonly item: Schema;
  readonly value: readonly JsonValue[];
  readonly onChange: (value: JsonValue[]) => void;
  readonly pointer: string;
  readonly label: string;
}) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const move = (from: number, to: number) => {
    const items = [...value];
    items.splice(to, 0, ...items.splice(from, 1));
    onChange(items);
  };
  return (
    <Stack gap="xs">
      {value.map((each, index) => (
        <Group key={index} gap={4} align="flex-start" wrap="nowrap">
          <div style={{ flex: 1, minWidth: 0 }}>
            <Field
              schema={{
                ...item,
                title: t('forms.itemOf', {
                  label: typeof item.title === 'string' ? item.title : label,
                  number: index + 1,
                }),
              }}
              name={String(index + 1)}
              value={each}
              isRequired
              pointer={joinPointer(pointer, index)}
              onChange={(next) => onChange(value.map((old, at) => (at === index ? (next ?? '') : old)))}
            />
          </div>
          {!isReadOnly && (
            <Stack gap={0}>
              <ActionIcon
                size="xs"
                disabled={index === 0}
                onClick={() => move(index, index - 1)}
                aria-label={t('forms.moveUp', { number: index + 1 })}
              >
                <ArrowUp size={12} />
              </ActionIcon>
              <ActionIcon
                size="xs"
                disabled={index === value.length - 1}
                onClick={() => move(index, index + 1)}
                aria-label={t('forms.moveDown', { number: index + 1 })}
              >
                <ArrowDown size={12} />
              </ActionIcon>
              <ActionIcon
                size="xs"
                color="red"
                onClick={() => onChange(value.filter((_, at) => at !== index))}
                aria-label={t('forms.removeItem', { number: index + 1 })}
              >
                <Trash2 size={12} />
              </ActionIcon>
            </Stack>
          )}
        </Group>
      ))}
      {!isReadOnly && (
        <Button
          variant="default"
          w="fit-content"
          leftSection={<Plus size={14} />}
          aria-label={t('forms.addTo', { label })}
          onClick={() => onChange([...value, initialOf(item)])}
        >
          {t('forms.addItem')}
        </Button>
      )}
    </Stack>
  );
}

const FEW_VARIANTS = 3;

/** One of several shapes: first which, then its own fields. */
function VariantInput({
  Field,
  shape,
  value,
  onChange,
  pointer,
  label,
}: StructuredProps & { readonly shape: Extract<FieldShape, { kind: 'variants' }> }) {
  const { isReadOnly } = useForm();
  const variant = variantOf(shape, value);
  const data = shape.variants.map(({ name, title }) => ({ value: name, label: title }));
  const choose = (name: string | null) => {
    const next = shape.variants.find((each) => each.name === name);
    if (next !== undefined && next !== variant) onChange(initialOf(next.schema));
  };
  const inner = shapeOf(variant.schema);
  return (
    <Stack gap="xs">
      {shape.variants.length <= FEW_VARIANTS ? (
        <SegmentedControl
          size="xs"
          w="fit-content"
          data={data}
          value={value === undefined ? '' : variant.name}
          onChange={choose}
          disabled={isReadOnly}
          aria-label={label}
        />
      ) : (
        <Select
          data={data}
          value={value === undefined ? null : variant.name}
          onChange={choose}
          disabled={isReadOnly}
          aria-label={label}
          allowDeselect={false}
          searchable={data.length > 10}
        />
      )}
      {value !== undefined && typeof variant.schema.description === 'string' && (
        <Text size="xs" c="dimmed">
          {variant.schema.description}
        </Text>
      )}
      {value !== undefined && inner.kind === 'group' && inner.fields.length > 1 && (
        <Paper withBorder p="xs">
          <GroupFields
            Field={Field}
            key={variant.name}
            fields={inner.fields}
            value={objectOf(value)}
            onChange={onChange}
            pointer={pointer}
          />
        </Paper>
      )}
      {value !== undefined && inner.kind !== 'group' && (
        <Field
          schema={{ ...variant.schema, title: variant.title, description: '' }}
          name={variant.title}
          value={value}
          isRequired
          onChange={onChange}
          pointer={pointer}
        />
      )}
    </Stack>
  );
}
