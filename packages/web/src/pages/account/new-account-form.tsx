import { Button, Stack } from '@mantine/core';
import { call } from '@millrace/ui/api/client.ts';
import { Form } from '@millrace/ui/components/form.tsx';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { EmailField, NameField, PasswordField } from './fields.tsx';
import { FormProblem, useFieldError } from './problems.tsx';

/** Creates an account with a link's token: the first one, or an invited one. */
export function NewAccountForm({
  endpoint,
  token,
  email: fixedEmail,
  action,
  onDone,
}: {
  endpoint: 'POST /setup' | 'POST /invitation/accept';
  token: string;
  /** The required address. */
  email?: string;
  /** The label of the submit button. */
  action: string;
  onDone: () => unknown;
}) {
  const [email, setEmail] = useState(fixedEmail ?? '');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const create = useMutation({
    mutationFn: () => call(endpoint, { body: { token, email, name, password } }),
    onSuccess: onDone,
  });
  const errorOf = useFieldError(create.error);
  const submit = () => {
    if (!create.isPending) create.mutate();
  };
  return (
    <Form onSubmit={submit} aria-label={action}>
      <Stack gap="sm">
        <FormProblem error={create.error} />
        <NameField autoFocus value={name} onChange={setName} error={errorOf('name')} />
        <EmailField
          readOnly={fixedEmail !== undefined}
          value={email}
          onChange={setEmail}
          error={errorOf('email')}
        />
        <PasswordField isNew value={password} onChange={setPassword} error={errorOf('password')} />
        <Button type="submit" size="sm" loading={create.isPending}>
          {action}
        </Button>
      </Stack>
    </Form>
  );
}
