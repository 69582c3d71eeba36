import { PasswordInput, type PasswordInputProps, TextInput, type TextInputProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';

type Text<Props> = Omit<Props, 'onChange' | 'value'> & {
  readonly value: string;
  readonly onChange: (value: string) => void;
};

function RequiredText({ onChange, ...props }: Text<TextInputProps>) {
  return (
    <TextInput
      size="sm"
      required
      withAsterisk={false}
      {...props}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** An email address, marked up for browsers and password managers. */
export function EmailField(props: Text<TextInputProps>) {
  const { t } = useTranslation();
  return (
    <RequiredText
      type="email"
      name="email"
      autoComplete="username"
      label={t('account.email')}
      maxLength={254}
      {...props}
    />
  );
}

/** A password; `isNew`: one being chosen. */
export function PasswordField({
  onChange,
  isNew = false,
  ...props
}: Text<PasswordInputProps> & { isNew?: boolean }) {
  const { t } = useTranslation();
  return (
    <PasswordInput
      size="sm"
      name={isNew ? 'new-password' : 'password'}
      autoComplete={isNew ? 'new-password' : 'current-password'}
      label={isNew ? t('account.newPassword') : t('account.password')}
      {...(isNew ? { description: t('account.passwordHint') } : {})}
      required
      withAsterisk={false}
      maxLength={1_000}
      // Mantine doesn't mark passwords itself.
      aria-invalid={props.error === undefined || props.error === null ? undefined : true}
      {...props}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** A code from the authenticator app, or a recovery code. */
export function CodeField(props: Text<TextInputProps>) {
  const { t } = useTranslation();
  return (
    <RequiredText
      name="code"
      autoComplete="one-time-code"
      autoCapitalize="off"
      spellCheck={false}
      label={t('account.code')}
      maxLength={50}
      {...props}
    />
  );
}

/** A person's name. */
export function NameField(props: Text<TextInputProps>) {
  const { t } = useTranslation();
  return (
    <RequiredText name="name" autoComplete="name" label={t('account.name')} maxLength={255} {...props} />
  );
}
