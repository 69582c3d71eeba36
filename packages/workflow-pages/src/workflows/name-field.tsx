import { TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';

const MAX_LENGTH = 255;

/** A workflow's name; focused when its dialog opens. */
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
