import { Paper, SegmentedControl, Select, Stack } from '@mantine/core';
import {
  type FieldShape,
  initialOf,
  isTextVariant,
  shapeOf,
  type Variant,
  variantOf,
} from '@millrace/editor-model/field-shape.ts';
import { isJsonObject, type JsonValue } from '@millrace/engine';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useTranslation } from 'react-i18next';
import type { FieldComponent } from '../form/field-props.ts';
import { useForm } from '../form/form-context.tsx';
import { useAlternatives } from '../form/use-alternatives.ts';
import { GroupFields } from './group-fields.tsx';

const FEW_VARIANTS = 3;

/** A choice between shapes, and the fields of the chosen one. */
export function VariantInput({
  Field,
  shape,
  value,
  onChange: change,
  pointer,
  label,
}: {
  Field: FieldComponent;
  shape: Extract<FieldShape, { kind: 'variants' }>;
  value: JsonValue | undefined;
  onChange: (value: JsonValue | undefined) => void;
  pointer: string;
  label: string;
}) {
  const { isReadOnly } = useForm();
  const titleOf = useTitleOf();
  const alternatives = useAlternatives(value, change);
  const onChange = alternatives.set;
  const variant = variantOf(shape, value);
  const data = shape.variants.map((each) => ({ value: each.name, label: titleOf(each) }));
  const choose = (name: string | null) => {
    const next = shape.variants.find((each) => each.name === name);
    if (next === undefined) return;
    if (value === undefined) onChange(initialOf(next.schema));
    else if (next !== variant) alternatives.switchTo(variant.name, next.name, () => initialOf(next.schema));
  };
  const inner = shapeOf(variant.schema);
  // Text can be typed at once; what else it may be is chosen.
  const isText = value === undefined && isTextVariant(variant);
  return (
    <Stack gap="xs">
      {shape.variants.length <= FEW_VARIANTS ? (
        <SegmentedControl
          size="xs"
          w="fit-content"
          data={data}
          value={value === undefined && !isText ? '' : variant.name}
          onChange={choose}
          disabled={isReadOnly}
          aria-label={label}
        />
      ) : (
        <Select
          data={data}
          value={value === undefined ? null : variant.name}
          placeholder={data[0]?.label ?? ''}
          onChange={choose}
          disabled={isReadOnly}
          aria-label={label}
          allowDeselect={false}
          searchable={data.length > 10}
        />
      )}
      {value !== undefined && typeof variant.schema.description === 'string' && (
        <Hint>{variant.schema.description}</Hint>
      )}
      {value !== undefined && inner.kind === 'group' && inner.fields.length > 1 && (
        <Paper withBorder p="xs">
          <GroupFields
            Field={Field}
            key={variant.name}
            shape={inner}
            value={isJsonObject(value) ? value : {}}
            onChange={onChange}
            pointer={pointer}
          />
        </Paper>
      )}
      {(value !== undefined || isText) && inner.kind !== 'group' && (
        <Field
          key={variant.name}
          schema={{ ...variant.schema, title: label, description: '' }}
          name={label}
          value={value}
          isRequired
          isBare
          isInner
          onChange={onChange}
          pointer={pointer}
        />
      )}
    </Stack>
  );
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const;

/** A variant's title, or its type in words if it has none. */
function useTitleOf(): (variant: Variant) => string {
  const { t } = useTranslation();
  return ({ name, title }) => {
    const type = title === name ? TYPES.find((each) => each === name) : undefined;
    return type === undefined ? title : t(`forms.typeName.${type}`);
  };
}
