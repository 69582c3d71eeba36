import type { Schema } from '@millrace/editor-model/field-shape.ts';
import type { JsonObject, JsonValue } from '@millrace/engine';
import type { ComponentType, ReactNode } from 'react';

export interface FieldProps {
  readonly schema: Schema;
  /** Undefined: omitted. */
  readonly value: JsonValue | undefined;
  readonly onChange: (value: JsonValue | undefined) => void;
  /** JSON Pointer within the form's value. */
  readonly pointer: string;
  /** The label if the schema has no title. */
  readonly name: string;
  readonly isRequired?: boolean;
  /** No label: the surroundings name the field. */
  readonly isBare?: boolean;
  /** The field around it, of the same value, shows its problems. */
  readonly isInner?: boolean;
  /** A text field takes the focus when its dialog opens, or when data was inserted into it. */
  readonly takesFocus?: boolean;
  /** Extra actions at the end of the label's line. */
  readonly actions?: ReactNode;
}

/** Props of a control whose label is rendered by its parent. */
export type InputProps = FieldProps & {
  readonly id: string;
  readonly describedBy: string;
  readonly label: string;
};

/** The field component, passed to nested controls to avoid a circular import. */
export type FieldComponent = ComponentType<FieldProps>;

/** The object with one member replaced; undefined removes it. */
export function withMember(object: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  const others = Object.entries(object).filter(([each]) => each !== name);
  if (value === undefined) return Object.fromEntries(others);
  return Object.hasOwn(object, name)
    ? Object.fromEntries(Object.entries(object).map(([each, old]) => [each, each === name ? value : old]))
    : Object.fromEntries([...others, [name, value]]);
}
