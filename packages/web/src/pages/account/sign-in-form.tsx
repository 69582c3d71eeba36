import { Anchor, Button, Stack, Text, Title } from '@mantine/core';
import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { Form } from '@millrace/ui/components/form.tsx';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CodeField, EmailField, PasswordField } from './fields.tsx';
import { FormProblem, useFieldError } from './problems.tsx';

/** Asks for email and password, and for a code if the account has a second factor. */
export function SignInForm({
  email: fixedEmail,
  action,
  onDone,
  children,
}: {
  /** The required address. */
  email?: string;
  /** The label of the submit button. */
  action: string;
  onDone: () => unknown;
  /** Other ways to sign in; hidden while a code is asked for. */
  children?: ReactNode;
}) {
  const { t } = useTranslation();
  const [email, setEmail] = useState(fixedEmail ?? '');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [asksCode, setAsksCode] = useState(false);
  const signIn = useMutation({
    mutationFn: () =>
      call('POST /sign-in', { body: { email, password, ...(asksCode && code !== '' ? { code } : {}) } }),
    onSuccess: onDone,
    onError: (error) => {
      if (error instanceof ApiProblem && error.code === 'second_factor_required') setAsksCode(true);
    },
  });
  const isQuestion = signIn.error instanceof ApiProblem && signIn.error.code === 'second_factor_required';
  const error = isQuestion ? null : signIn.error;
  const errorOf = useFieldError(error);
  const submit = () => {
    if (!signIn.isPending) signIn.mutate();
  };
  const back = () => {
    setAsksCode(false);
    setCode('');
    signIn.reset();
  };
  return (
    <Stack gap="md">
      <Form onSubmit={submit} aria-label={action}>
        <Stack gap="sm">
          <FormProblem error={error} />
          {asksCode ? (
            <>
              <Title order={2}>{t('account.codeTitle')}</Title>
              <CodeField
                key="code"
                autoFocus
                description={t('account.codeHint')}
                value={code}
                onChange={setCode}
                error={errorOf('code')}
              />
            </>
          ) : (
            <>
              <EmailField
                autoFocus={fixedEmail === undefined}
                readOnly={fixedEmail !== undefined}
                value={email}
                onChange={setEmail}
                error={errorOf('email')}
              />
              <PasswordField
                autoFocus={fixedEmail !== undefined}
                value={password}
                onChange={setPassword}
                error={errorOf('password')}
              />
            </>
          )}
          <Button type="submit" size="sm" loading={signIn.isPending}>
            {asksCode ? t('account.confirm') : action}
          </Button>
          {asksCode && (
            <Text size="sm">
              <Anchor component="button" type="button" onClick={back}>
                {t('account.backToPassword')}
              </Anchor>
            </Text>
          )}
        </Stack>
      </Form>
      {!asksCode && children}
    </Stack>
  );
}
