import { NumberInput, type NumberInputProps } from '@mantine/core';
import { isRawNumber, type JsonValue, parseJson } from '@millrace/engine';
import { useState } from 'react';

export type NumberBoxProps = Omit<NumberInputProps, 'value' | 'onChange'> & {
  value: JsonValue | undefined;
  /** Undefined: the field is empty, or doesn't hold a number. */
  onChange: (value: JsonValue | undefined) => void;
  /** What stands for nothing where there must be a number. */
  empty?: number;
};

/**
 * A number as it is typed: what is none yet (`-`, `0.`) stays in the field, one that a double cannot hold keeps its
 * digits, and one that is not allowed is told of and not changed.
 */
export function NumberBox({ value, onChange, empty, ...others }: NumberBoxProps) {
  const [text, setText] = useState(() => textOf(value));
  const [seen, setSeen] = useState(textOf(value));
  // Somebody else changed it (undo, an example): the field follows.
  const now = textOf(value);
  if (now !== seen) {
    setSeen(now);
    if (now !== textOf(numberOf(text) ?? empty)) setText(now);
  }
  return (
    <NumberInput
      clampBehavior="none"
      placeholder={empty === undefined ? undefined : String(empty)}
      trimLeadingZeroesOnBlur={false}
      {...others}
      value={text}
      onChange={(next) => {
        setText(String(next));
        onChange(numberOf(String(next)) ?? empty);
      }}
    />
  );
}

function textOf(value: JsonValue | undefined): string {
  if (isRawNumber(value)) return value.rawJSON;
  return typeof value === 'number' ? String(value) : '';
}

/** As JSON writes them, but for noughts in front and a point at the end. */
function numberOf(text: string): JsonValue | undefined {
  const json = text.replace(/^(-?)0+(?=\d)/, '$1').replace(/\.$/, '');
  return /^-?\d+(\.\d+)?$/.test(json) ? parseJson(json) : undefined;
}
