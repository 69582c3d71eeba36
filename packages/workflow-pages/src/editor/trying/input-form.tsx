import '@millrace/ui/i18n/parts/forms.ts';
import { Stack } from '@mantine/core';
import { Field } from '@millrace/editor/fields/field.tsx';
import { GroupFields } from '@millrace/editor/fields/group-fields.tsx';
import { FormContext, type FormContextValue } from '@millrace/editor/form/form-context.tsx';
import { shapeOf } from '@millrace/editor-model/field-shape.ts';
import type { JsonObject } from '@millrace/engine';
import { useMemo } from 'react';

/** The input as a form generated from the workflow's input schema; strings are literal, not templates. */
export function InputForm({
  schema,
  value,
  onChange,
}: {
  schema: JsonObject;
  value: JsonObject;
  onChange: (value: JsonObject) => void;
}) {
  const context = useMemo<FormContextValue>(
    () => ({ isReadOnly: false, takesTemplates: false, problems: [], hints: () => [], preview: () => null }),
    [],
  );
  const shape = shapeOf(schema);
  if (shape.kind !== 'group') return null;
  return (
    <FormContext value={context}>
      <Stack gap="sm">
        <GroupFields Field={Field} shape={shape} value={value} onChange={onChange} pointer="" />
      </Stack>
    </FormContext>
  );
}
