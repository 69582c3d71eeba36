import { Collapse, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  applies,
  type FieldShape,
  isTemplate,
  type NamedField,
  type Schema,
  shapeOf,
  textsIn,
  withLanguage,
} from '@millrace/editor-model/field-shape.ts';
import { summaryOf } from '@millrace/editor-model/section-summary.ts';
import { isJsonObject, type JsonObject, type JsonValue, joinPointer, own } from '@millrace/engine';
import { Hint } from '@millrace/ui/components/text.tsx';
import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type FieldComponent, withMember } from '../form/field-props.ts';
import { type FormContextValue, hasProblemBelow, useForm } from '../form/form-context.tsx';
import { areOfRequest, CurlTarget } from './curl-target.tsx';
import { OptionField, type OptionSource } from './option-field.tsx';

/** An object's members: as its layout says, else all of them in the order of the schema. */
export function GroupFields({
  Field,
  shape: { fields, layout },
  value,
  onChange,
  pointer,
}: {
  Field: FieldComponent;
  shape: Extract<FieldShape, { kind: 'group' }>;
  value: JsonObject;
  onChange: (value: JsonObject) => void;
  pointer: string;
}) {
  const form = useForm();
  const known = withNodeSettings(fields, value, form);
  const shown = known.filter(
    (field) => shapeOf(field.schema).kind !== 'constant' && applies(field, value, known),
  );
  const named = (names: readonly string[]) =>
    names.flatMap((name) => shown.find((field) => field.name === name) ?? []);
  const isRequest = areOfRequest(known);
  const draw = ({ name, schema, isRequired }: NamedField) => {
    const change = (next: JsonValue | undefined) =>
      onChange(withStart(withMember(value, name, next), name, known));
    const drawField = (actions?: ReactNode) => (
      <Field
        key={name}
        name={name}
        schema={withLanguage(schema, value)}
        isRequired={isRequired}
        value={value[name]}
        pointer={joinPointer(pointer, name)}
        onChange={change}
        actions={actions}
      />
    );
    const listedBy = schema['x-options'];
    if (typeof listedBy === 'string') {
      const credentialId = value[listedBy];
      return (
        <OptionField
          key={name}
          credentialId={typeof credentialId === 'number' && credentialId > 0 ? credentialId : null}
          label={labelOf(schema, name)}
          list={listOf(schema, value, known)}
          onChange={change}
        >
          {drawField}
        </OptionField>
      );
    }
    const field = drawField();
    if (!isRequest || schema['x-url'] !== true) return field;
    return (
      <CurlTarget key={name} value={value} onChange={onChange}>
        {field}
      </CurlTarget>
    );
  };
  return (
    <Stack gap="sm">
      {(layout === null ? shown : named(layout.main)).map(draw)}
      {layout?.sections.map((section) => {
        const inside = named(section.fields);
        return (
          inside.length > 0 && (
            <Section
              key={section.title}
              title={section.title}
              fields={inside}
              value={value}
              pointer={pointer}
            >
              {inside.map(draw)}
            </Section>
          )
        );
      })}
    </Stack>
  );
}

function labelOf({ title }: Schema, name: string): string {
  return typeof title === 'string' ? title : name;
}

/** A connector's list, with what it reads of the other fields; null: what the type of the credential lists. */
function listOf(schema: Schema, value: JsonObject, fields: readonly NamedField[]): OptionSource | null {
  const source = schema['x-options-list'];
  if (source === undefined || !isJsonObject(source)) return null;
  const { list, reads: read } = source;
  if (typeof list !== 'string') return null;
  const reads = textsIn(read);
  // What a template gives is known only in a run.
  const isGiven = (name: string) => {
    const given = value[name] ?? '';
    return given !== '' && !isTemplate(given);
  };
  const missing = reads.find((name) => !isGiven(name));
  const field = fields.find(({ name }) => name === missing);
  return {
    list,
    settings: Object.fromEntries(reads.map((name) => [name, value[name] ?? null])),
    needs: missing === undefined ? null : labelOf(field?.schema ?? {}, missing),
  };
}

/** Fields that can be closed; says what they are set to meanwhile. Open at first if one of them is set. */
function Section({
  title,
  fields,
  value,
  pointer,
  children,
}: {
  title: string;
  fields: readonly NamedField[];
  value: JsonObject;
  pointer: string;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const form = useForm();
  const set = fields.filter(({ name }) => value[name] !== undefined);
  const [isWanted, { toggle }] = useDisclosure(set.length > 0);
  // Never hide a problem.
  const isOpen =
    isWanted ||
    hasProblemBelow(
      form,
      fields.map(({ name }) => joinPointer(pointer, name)),
    );
  const summary = summaryOf(fields, value);
  return (
    <div className="form-section">
      <UnstyledButton onClick={toggle} aria-expanded={isOpen} fz="sm" py={4} w="100%">
        <Group gap={4} wrap="nowrap">
          <ChevronRight
            size={14}
            aria-hidden
            style={{ flex: 'none', transform: isOpen ? 'rotate(90deg)' : undefined }}
          />
          <Text span inherit fw={500}>
            {title}
          </Text>
          {!isOpen && summary !== null && (
            <Hint span truncate>
              {summary.labels.length > 0
                ? summary.labels.join(t('common.listSeparator'))
                : t(summary.isSet ? 'forms.section.set' : 'forms.section.off')}
            </Hint>
          )}
        </Group>
      </UnstyledButton>
      <Collapse expanded={isOpen}>
        <Stack gap="sm" pt="xs" pb="xs">
          {children}
        </Stack>
      </Collapse>
    </div>
  );
}

/** Nested node settings begin with what their schema says for the chosen type (`x-starts`), unless there are some. */
function withStart(value: JsonObject, changed: string, fields: readonly NamedField[]): JsonObject {
  const starts = fields.find(({ name }) => name === 'config')?.schema['x-starts'];
  if (changed !== 'type' || typeof value.type !== 'string' || starts === undefined) return value;
  const all = starts as { readonly [type: string]: JsonObject };
  const isUntouched = [{}, ...Object.values(all)].some(
    (start) => JSON.stringify(start) === JSON.stringify(value.config ?? {}),
  );
  const start = own(all, value.type);
  return isUntouched && start !== undefined ? withMember(value, 'config', start) : value;
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
      schema: {
        ...chosen.schema,
        ...(title && { title }),
        ...(description && { description }),
        'x-starts': field.schema['x-starts'] ?? {},
      },
    };
  });
}

function withNodeTitles(schema: Schema, nodes: NonNullable<FormContextValue['nodeSchemas']>): Schema {
  const labels = Object.fromEntries([...nodes].map(([type, { title }]) => [type, title]));
  return { ...schema, enum: schema.enum ?? [...nodes.keys()], 'x-labels': labels };
}
