import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from './form-context.tsx';

/** Renamed when one leaves the field, so that a name half typed collides with none. */
export function MemberName({
  name,
  taken,
  onRename,
  label,
}: {
  readonly name: string;
  readonly taken: readonly string[];
  readonly onRename: (name: string) => void;
  readonly label: string;
}) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const [text, setText] = useState(name);
  const isTaken = text !== name && taken.includes(text);
  return (
    <TextInput
      flex={1}
      aria-label={label}
      value={text}
      readOnly={isReadOnly}
      error={isTaken ? t('forms.nameTaken') : null}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={() => (text === name || isTaken || text === '' ? setText(name) : onRename(text))}
    />
  );
}
