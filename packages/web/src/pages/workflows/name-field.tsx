import { TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';

const MAX_LENGTH = 255;

/** What a workflow is called; the dialog that asks for it begins here. */
export function NameField({
  value,
  onChange,
  placeholder,
}: {
  value: string;
  onChange: (name: string) => void;
  placeholder?: string;
}) {
  const { t } = useTranslation();
  return (
    <TextInput
      data-autofocus
      label={t('workflows.name')}
      {...(placeholder === undefined ? {} : { placeholder })}
      value={value}
      maxLength={MAX_LENGTH}
      required
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
