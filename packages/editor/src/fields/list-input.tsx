import { ActionIcon, Group, Paper, Select, Stack } from '@mantine/core';
import { initialOf, type NamedField, type Schema, shapeOf } from '@millrace/editor-model/field-shape.ts';
import { isJsonObject, type JsonObject, type JsonValue, joinPointer } from '@millrace/engine';
import { FieldError } from '@millrace/ui/components/text.tsx';
import { ArrowDown, ArrowUp, Trash2 } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type FieldComponent, type FieldProps, withMember } from '../form/field-props.ts';
import { useForm, useProblem } from '../form/form-context.tsx';
import { moveItem } from '../form/move-item.ts';
import { AddButton } from './member-buttons.tsx';
import { RowsTarget } from './rows-target.tsx';
import { useAddedFocus } from './use-added-focus.ts';

/** Kinds whose control takes about one line. */
const SIMPLE = new Set(['text', 'any', 'number', 'choice']);

/** An ordered list of items. */
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
  const { frame, noteAdded } = useAddedFocus(value.length);
  const add = () => {
    noteAdded();
    onChange([...value, initialOf(item)]);
  };
  const isBlank = (each: JsonValue) => each === '' || each === null;
  return (
    <RowsTarget
      isReady={shapeOf(item).kind === 'any'}
      onRows={(rows) => onChange([...value.filter((each) => !isBlank(each)), ...rows])}
    >
      <Stack gap="xs" ref={frame}>
        {value.map((each, index) => (
          <Item
            key={index}
            Field={Field}
            {...fieldOf(each, index)}
            actions={isReadOnly ? null : <ItemActions items={value} index={index} onChange={onChange} />}
          />
        ))}
        <AddButton to={label} onClick={add}>
          {t('forms.addItem')}
        </AddButton>
      </Stack>
    </RowsTarget>
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

/** Buttons that move and remove an item. */
export function ItemActions({
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
  const move = (to: number) => onChange(moveItem(items, index, to));
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

/** Unary operators. */
const ONE_SIDED = new Set(['exists', 'not_exists', 'is_empty', 'is_not_empty', 'is_true', 'is_false']);

/** Operators of texts, for which letters may count as the same. */
const OF_LETTERS = /equals|contains|_with$|in$|matches/;

/** Whether a schema is a comparison: an operator with a left and a right operand. */
function isCondition(schema: Schema): boolean {
  const shape = shapeOf(schema);
  if (shape.kind !== 'group') return false;
  const names = shape.fields.map(({ name }) => name);
  return names.length === 4 && ['operator', 'right', 'ignore_case'].every((name) => names.includes(name));
}

const RIGHT_SIDE = ['input', '.cm-content'].map((field) => `[data-right-side] ${field}`).join(',');

/** A comparison, read from top to bottom like a sentence. */
function ConditionInput({
  Field,
  schema,
  value,
  onChange,
  pointer,
  actions,
}: FieldProps & { Field: FieldComponent }) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const operatorProblem = useProblem(joinPointer(pointer, 'operator'));
  const problem = useProblem(pointer);
  const shape = shapeOf(schema);
  const fields = shape.kind === 'group' ? shape.fields : [];
  const [left] = fields;
  const right = fields.find(({ name }) => name === 'right');
  const ignoreCase = fields.find(({ name }) => name === 'ignore_case');
  const operator = fields.find(({ name }) => name === 'operator');
  const operatorShape = operator === undefined ? null : shapeOf(operator.schema);
  const now: JsonObject = value !== undefined && isJsonObject(value) ? value : {};
  const chosen = typeof now.operator === 'string' ? now.operator : '';
  const set = (name: string, next: FieldProps['value']) => onChange(withMember(now, name, next));
  /** The right operand that a unary operator dropped; a later operator may need it. */
  const former = useRef<{ readonly left: JsonObject; readonly right: JsonObject[string] } | null>(null);
  const choose = (next: string | null) => {
    const { right: had = former.current?.left === now ? former.current.right : undefined } = now;
    const bare = withMember(withMember(now, 'operator', next ?? undefined), 'right', undefined);
    const isOneSided = ONE_SIDED.has(next ?? '');
    former.current = isOneSided && had !== undefined ? { left: bare, right: had } : null;
    onChange(isOneSided ? bare : withMember(bare, 'right', had));
    goesOn.current = !isOneSided && (had ?? '') === '';
  };
  const frame = useRef<HTMLDivElement>(null);
  /** An operator was chosen here, and what it compares with is still empty. */
  const goesOn = useRef(false);
  useEffect(() => {
    if (goesOn.current && chosen !== '') frame.current?.querySelector<HTMLElement>(RIGHT_SIDE)?.focus();
    goesOn.current = false;
  }, [chosen]);
  const side = (field: NamedField | undefined) =>
    field !== undefined && (
      <Field
        {...field}
        isBare
        value={now[field.name]}
        pointer={joinPointer(pointer, field.name)}
        onChange={(next) => set(field.name, next)}
      />
    );
  return (
    <Paper withBorder p={6} ref={frame}>
      <Stack gap={4}>
        <Group gap={4} align="flex-start" wrap="nowrap">
          <div style={{ flex: 1, minWidth: 0 }}>{side(left)}</div>
          <Group gap={0} wrap="nowrap" pt={5}>
            {actions}
          </Group>
        </Group>
        <Select
          aria-label={typeof operator?.schema.title === 'string' ? operator.schema.title : 'operator'}
          data={operatorShape?.kind === 'choice' ? [...operatorShape.options] : []}
          value={chosen === '' ? null : chosen}
          placeholder={t('forms.chooseOperator')}
          onChange={choose}
          allowDeselect={false}
          disabled={isReadOnly}
          error={operatorProblem}
          searchable
          w="max(60%, min(100%, 280px))"
        />
        {!ONE_SIDED.has(chosen) && <div data-right-side>{side(right)}</div>}
        {ignoreCase !== undefined && OF_LETTERS.test(chosen) && (
          <Field
            {...ignoreCase}
            value={now.ignore_case}
            pointer={joinPointer(pointer, 'ignore_case')}
            onChange={(next) => set('ignore_case', next === true ? next : undefined)}
          />
        )}
        {problem !== null && <FieldError>{problem}</FieldError>}
      </Stack>
    </Paper>
  );
}
