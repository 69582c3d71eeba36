import { ActionIcon, Group, Stack } from '@mantine/core';
import { type JsonValue, joinPointer } from '@millrace/engine';
import { ArrowDown, ArrowUp, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { FieldComponent, FieldProps } from '../form/field-props.ts';
import { initialOf, type Schema, shapeOf } from '../form/field-shape.ts';
import { useForm } from '../form/form-context.tsx';
import { ConditionInput, isCondition } from './condition-input.tsx';
import { AddButton } from './member-buttons.tsx';

/** Their control is a line or little more. */
const SIMPLE = new Set(['text', 'any', 'number', 'choice']);

/** Items in their order. */
export function ListInput({
  Field,
  item,
  value,
  onChange,
  pointer,
  label,
}: {
  Field: FieldComponent;
  item: Schema;
  value: readonly JsonValue[];
  onChange: (value: JsonValue[]) => void;
  pointer: string;
  label: string;
}) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const itemLabel = typeof item.title === 'string' ? item.title : label;
  const fieldOf = (each: JsonValue, index: number): FieldProps => ({
    schema: { ...item, title: t('forms.itemOf', { label: itemLabel, number: index + 1 }) },
    name: String(index + 1),
    value: each,
    isRequired: true,
    pointer: joinPointer(pointer, index),
    onChange: (next) =>
      onChange(value.map((old, at) => (at === index ? (next === undefined ? '' : next) : old))),
  });
  return (
    <Stack gap="xs">
      {value.map((each, index) => (
        <Item
          key={index}
          Field={Field}
          {...fieldOf(each, index)}
          actions={isReadOnly ? null : <ItemActions items={value} index={index} onChange={onChange} />}
        />
      ))}
      <AddButton to={label} onClick={() => onChange([...value, initialOf(item)])}>
        {t('forms.addItem')}
      </AddButton>
    </Stack>
  );
}

function Item({ Field, actions, ...field }: FieldProps & { Field: FieldComponent }) {
  if (isCondition(field.schema)) return <ConditionInput {...field} Field={Field} actions={actions} />;
  if (!SIMPLE.has(shapeOf(field.schema).kind)) return <Field {...field} actions={actions} />;
  return (
    <Group gap={4} align="flex-start" wrap="nowrap">
      <div style={{ flex: 1, minWidth: 0 }}>
        <Field {...field} isBare />
      </div>
      <Group gap={0} wrap="nowrap" pt={5}>
        {actions}
      </Group>
    </Group>
  );
}

function ItemActions({
  items,
  index,
  onChange,
}: {
  items: readonly JsonValue[];
  index: number;
  onChange: (value: JsonValue[]) => void;
}) {
  const { t } = useTranslation();
  const number = index + 1;
  const move = (to: number) => {
    const next = [...items];
    next.splice(to, 0, ...next.splice(index, 1));
    onChange(next);
  };
  return (
    <>
      {items.length > 1 && (
        <>
          <ActionIcon
            size="xs"
            disabled={index === 0}
            onClick={() => move(index - 1)}
            aria-label={t('forms.moveUp', { number })}
          >
            <ArrowUp size={12} />
          </ActionIcon>
          <ActionIcon
            size="xs"
            disabled={index === items.length - 1}
            onClick={() => move(index + 1)}
            aria-label={t('forms.moveDown', { number })}
          >
            <ArrowDown size={12} />
          </ActionIcon>
        </>
      )}
      <ActionIcon
        size="xs"
        color="red"
        onClick={() => onChange(items.filter((_, at) => at !== index))}
        aria-label={t('forms.removeItem', { number })}
      >
        <Trash2 size={12} />
      </ActionIcon>
    </>
  );
}
