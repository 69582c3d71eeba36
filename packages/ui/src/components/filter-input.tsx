import { CloseButton, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';

const TYPING_PAUSE_MS = 300;

/** A text field that filters once typing pauses and follows changes of the filter made elsewhere. */
export function FilterInput({
  value: given = '',
  clearLabel,
  onApply,
  ...input
}: Omit<TextInputProps, 'value' | 'onChange'> & {
  value: string | undefined;
  /** Label of the clear button; omitted: no button. */
  clearLabel?: string;
  onApply: (text: string) => void;
}) {
  const [text, setText] = useState(given);
  const [applied, setApplied] = useState(given);
  const [seen, setSeen] = useState(given);
  if (given !== seen) {
    setSeen(given);
    // While typing goes on, the applied filter lags behind the text.
    if (given !== applied) setText(given);
    setApplied(given);
  }
  const applySoon = useDebouncedCallback((value: string) => {
    setApplied(value);
    onApply(value);
  }, TYPING_PAUSE_MS);
  const write = (value: string, isComposing = false) => {
    setText(value);
    if (!isComposing) applySoon(value);
  };
  return (
    <TextInput
      rightSection={
        clearLabel !== undefined &&
        text !== '' && <CloseButton size="sm" aria-label={clearLabel} onClick={() => write('')} />
      }
      {...input}
      value={text}
      // Text still being composed, as in Japanese, isn't searched for.
      onChange={({ currentTarget: { value }, nativeEvent }) =>
        write(value, (nativeEvent as InputEvent).isComposing)
      }
      onCompositionEnd={({ currentTarget: { value } }) => write(value)}
    />
  );
}
