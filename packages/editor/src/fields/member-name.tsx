import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../form/form-context.tsx';

/** Renames on blur or Enter, so that a half-typed name doesn't collide with another. */
export function MemberName({
  name,
  taken,
  onRename,
  label,
}: {
  name: string;
  taken: readonly string[];
  onRename: (name: string) => void;
  label: string;
}) {
  const { t } = useTranslation();
  const { isReadOnly } = useForm();
  const [text, setText] = useState(name);
  const isTaken = text !== name && taken.includes(text);
  const rename = () => (text === name || isTaken || text === '' ? setText(name) : onRename(text));
  return (
    <TextInput
      flex={1}
      aria-label={label}
      value={text}
      readOnly={isReadOnly}
      error={isTaken ? t('forms.nameTaken') : null}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={rename}
      onKeyDown={(event) => {
        // Commit first: Ctrl+S saves and Ctrl+Enter runs the workflow.
        const isSave = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 's';
        if ((event.key === 'Enter' && !event.nativeEvent.isComposing) || isSave) rename();
      }}
    />
  );
}
