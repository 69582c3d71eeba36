import type { JsonObject, JsonValue } from '@millrace/engine';
import type { ComponentType, ReactNode } from 'react';
import type { Schema } from './field-shape.ts';

export interface FieldProps {
  readonly schema: Schema;
  /** Undefined: left out. */
  readonly value: JsonValue | undefined;
  readonly onChange: (value: JsonValue | undefined) => void;
  /** JSON Pointer of the value in the form's value. */
  readonly pointer: string;
  /** What it is called when its schema has no title. */
  readonly name: string;
  readonly isRequired?: boolean;
  /** Without a label of its own: what stands around it says what it is. */
  readonly isBare?: boolean;
  /** What can be done with it besides, at the end of the line of its label. */
  readonly actions?: ReactNode;
}

/** A control that has a field's label from outside. */
export type InputProps = FieldProps & {
  readonly id: string;
  readonly describedBy: string;
  readonly label: string;
};

/** What draws a field: handed down to what has fields inside, so that the two need not know each other. */
export type FieldComponent = ComponentType<FieldProps>;

/** The object with one member changed; undefined takes it out. */
export function withMember(object: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  const others = Object.entries(object).filter(([each]) => each !== name);
  if (value === undefined) return Object.fromEntries(others);
  return Object.hasOwn(object, name)
    ? Object.fromEntries(Object.entries(object).map(([each, old]) => [each, each === name ? value : old]))
    : Object.fromEntries([...others, [name, value]]);
}
