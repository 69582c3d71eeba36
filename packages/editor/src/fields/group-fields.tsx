import { Collapse, Group, Stack, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type JsonObject, joinPointer } from '@millrace/engine';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type FieldComponent, withMember } from '../form/field-props.ts';
import { applies, type NamedField, type Schema, shapeOf } from '../form/field-shape.ts';
import { type FormContextValue, hasProblemBelow, useForm } from '../form/form-context.tsx';

/** An object's members: required and set ones, and optional ones behind a button. */
export function GroupFields({
  Field,
  fields,
  value,
  onChange,
  pointer,
}: {
  Field: FieldComponent;
  fields: readonly NamedField[];
  value: JsonObject;
  onChange: (value: JsonObject) => void;
  pointer: string;
}) {
  const { t } = useTranslation();
  const form = useForm();
  const known = withNodeSettings(fields, value, form);
  const shown = known.filter(
    (field) => shapeOf(field.schema).kind !== 'constant' && applies(field, value, known),
  );
  // The initially shown fields stay in place while typing.
  const [first] = useState(
    () => new Set(shown.filter((field) => isShownFirst(field, value, shown.length)).map(({ name }) => name)),
  );
  // A field that depends on a choice appears as soon as that choice is made.
  const isMain = ({ name, schema }: NamedField) => first.has(name) || schema['x-when'] !== undefined;
  const main = shown.filter(isMain);
  const others = shown.filter((field) => !isMain(field));
  const [isWanted, { toggle }] = useDisclosure(false);
  // Never hide a problem.
  const isOpen =
    isWanted ||
    hasProblemBelow(
      form,
      others.map(({ name }) => joinPointer(pointer, name)),
    );
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

/** Nested node settings (`type` names the node, `config` is its settings) use that node's form. */
function withNodeSettings(
  fields: readonly NamedField[],
  value: JsonObject,
  { nodeSchemas }: Pick<FormContextValue, 'nodeSchemas'>,
): readonly NamedField[] {
  const names = fields.map(({ name }) => name);
  if (nodeSchemas === undefined || !names.includes('type') || !names.includes('config')) return fields;
  const chosen = typeof value.type === 'string' ? nodeSchemas.get(value.type) : undefined;
  return fields.map((field) => {
    const { title, description } = field.schema;
    if (field.name === 'type') return { ...field, schema: withNodeTitles(field.schema, nodeSchemas) };
    if (field.name !== 'config' || chosen === undefined) return field;
    return {
      ...field,
      schema: { ...chosen.schema, ...(title && { title }), ...(description && { description }) },
    };
  });
}

function withNodeTitles(schema: Schema, nodes: NonNullable<FormContextValue['nodeSchemas']>): Schema {
  const labels = Object.fromEntries([...nodes].map(([type, { title }]) => [type, title]));
  return { ...schema, enum: schema.enum ?? [...nodes.keys()], 'x-labels': labels };
}
