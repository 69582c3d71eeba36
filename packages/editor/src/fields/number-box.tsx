import { NumberInput, type NumberInputProps } from '@mantine/core';
import { isRawNumber, type JsonValue, parseJson } from '@millrace/engine';
import { useState } from 'react';

export type NumberBoxProps = Omit<NumberInputProps, 'value' | 'onChange'> & {
  value: JsonValue | undefined;
  /** Undefined: the field is empty or not a number. */
  onChange: (value: JsonValue | undefined) => void;
  /** Stands for an empty field where a number is required. */
  empty?: number;
};

/**
 * A number as typed: an unfinished one (`-`, `0.`) stays in the field, one beyond double precision keeps its digits,
 * and an invalid one is reported, not corrected.
 */
export function NumberBox({ value, onChange, empty, ...others }: NumberBoxProps) {
  const [text, setText] = useState(() => textOf(value));
  const [seen, setSeen] = useState(textOf(value));
  // The value was changed elsewhere (undo, an example): update the field.
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
      // Reached with Tab, it is replaced by what is typed, as in any plain field. At once: `onFocus` is called a moment later.
      onFocusCapture={({ currentTarget }) => currentTarget.select()}
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

/** Accepts JSON numbers, and also leading zeros and a trailing decimal point. */
function numberOf(text: string): JsonValue | undefined {
  const json = text.replace(/^(-?)0+(?=\d)/, '$1').replace(/\.$/, '');
  return /^-?\d+(\.\d+)?$/.test(json) ? parseJson(json) : undefined;
}
