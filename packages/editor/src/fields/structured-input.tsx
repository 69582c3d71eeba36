import { Paper } from '@mantine/core';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import type { FieldComponent, FieldProps } from '../form/field-props.ts';
import type { FieldShape } from '../form/field-shape.ts';
import { GroupFields } from './group-fields.tsx';
import { ListInput } from './list-input.tsx';
import { RecordInput } from './record-input.tsx';
import { VariantInput } from './variant-input.tsx';

type StructuredProps = FieldProps & {
  Field: FieldComponent;
  shape: FieldShape;
  label: string;
};

/** The control of a value that has parts. */
export function StructuredInput(props: StructuredProps) {
  const { Field, shape, value, onChange, pointer, label } = props;
  const common = { Field, onChange, pointer, label };
  switch (shape.kind) {
    case 'group':
      return (
        <Paper withBorder p="xs">
          <GroupFields {...common} fields={shape.fields} value={objectOf(value)} />
        </Paper>
      );
    case 'record':
      return <RecordInput {...common} member={shape.member} value={objectOf(value)} />;
    case 'list':
      return (
        <ListInput
          {...common}
          item={shape.item}
          value={value !== undefined && isJsonArray(value) ? value : []}
        />
      );
    case 'variants':
      return <VariantInput {...common} shape={shape} value={value} />;
    default:
      return null;
  }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}
