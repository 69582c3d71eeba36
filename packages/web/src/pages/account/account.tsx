import '@millrace/ui/i18n/parts/account.ts';
import { Anchor, Box, Button, Group, Stack, Text, Title } from '@mantine/core';
import { call } from '@millrace/ui/api/client.ts';
import { useMe } from '@millrace/ui/api/me.ts';
import { Form } from '@millrace/ui/components/form.tsx';
import { notifyDone } from '@millrace/ui/components/notify.ts';
import { Page } from '@millrace/ui/components/page.tsx';
import { LoadingRows } from '@millrace/ui/components/states.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useCanGoBack, useRouter } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { type MouseEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { NameField, PasswordField } from './fields.tsx';
import { Memberships } from './memberships.tsx';
import { FormProblem, useFieldError } from './problems.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';

/** The user's own name, password, second factor, sessions and memberships. */
export function AccountPage() {
  const { t } = useTranslation();
  const me = useMe();
  const { history } = useRouter();
  const canGoBack = useCanGoBack();
  // Back to the previous page, which needn't be in the first organisation.
  const goBack = (event: MouseEvent) => {
    if (!canGoBack || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    history.back();
  };
  return (
    <Box component="main">
      <Page title={t('account.title')} description={me?.user.email} width={760}>
        <Text size="sm">
          <Anchor component={Link} to="/" onClick={goBack}>
            <Group gap={4} component="span" display="inline-flex">
              <ArrowLeft size={14} aria-hidden />
              {t('account.back')}
            </Group>
          </Anchor>
        </Text>
        {me === undefined ? (
          <LoadingRows />
        ) : (
          <Stack gap={0}>
            <Section title={t('account.profile')}>
              <NameForm name={me.user.name} />
            </Section>
            <Section title={t('account.passwordTitle')} text={t('account.passwordEffect')}>
              {me.user.has_password ? <PasswordForm /> : <Text size="sm">{t('account.noPassword')}</Text>}
            </Section>
            {me.user.has_password && (
              <Section title={t('account.secondFactor')} text={t('account.secondFactorText')}>
                <SecondFactor isOn={me.user.has_second_factor} />
              </Section>
            )}
            <Section title={t('account.memberships')}>
              <Memberships organisations={me.organisations} />
            </Section>
            <Section title={t('account.sessions')}>
              <Sessions />
            </Section>
          </Stack>
        )}
      </Page>
    </Box>
  );
}

function Section({ title, text, children }: { title: string; text?: string; children: ReactNode }) {
  return (
    <Stack
      component="section"
      aria-label={title}
      gap="xs"
      py="md"
      style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}
    >
      <Box>
        <Title order={2}>{title}</Title>
        {text !== undefined && <Muted>{text}</Muted>}
      </Box>
      {children}
    </Stack>
  );
}

function NameForm({ name: before }: { name: string }) {
  const { t } = useTranslation();
  const [name, setName] = useState(before);
  const save = useChange(() => call('PATCH /me', { body: { name } }), {
    done: t('account.nameSaved'),
    refreshes: ['GET /me'],
  });
  const submit = () => {
    save.mutate();
  };
  const isChanged = name.trim() !== '' && name.trim() !== before;
  return (
    <Form onSubmit={submit}>
      <Group align="flex-end" gap="xs" maw={420}>
        <NameField flex={1} size="xs" value={name} onChange={setName} />
        <Button type="submit" variant="default" disabled={!isChanged} loading={save.isPending}>
          {t('common.save')}
        </Button>
      </Group>
    </Form>
  );
}

function PasswordForm() {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const email = useMe()?.user.email ?? '';
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useMutation({
    mutationFn: () => call('PUT /me/password', { body: { current_password: current, new_password: next } }),
    onSuccess: async () => {
      setCurrent('');
      setNext('');
      notifyDone(t('account.passwordChanged'));
      await queryClient.invalidateQueries();
    },
  });
  const errorOf = useFieldError(change.error);
  const submit = () => {
    if (!change.isPending) change.mutate();
  };
  return (
    <Form onSubmit={submit} aria-label={t('account.changePassword')}>
      <Stack gap="xs" maw={340}>
        <FormProblem error={change.error} />
        {/* Password managers need the username. */}
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <PasswordField
          size="xs"
          label={t('account.currentPassword')}
          value={current}
          onChange={setCurrent}
          error={errorOf('current_password')}
        />
        <PasswordField isNew size="xs" value={next} onChange={setNext} error={errorOf('new_password')} />
        <Group>
          <Button
            type="submit"
            variant="default"
            disabled={current === '' || next === ''}
            loading={change.isPending}
          >
            {t('account.changePassword')}
          </Button>
        </Group>
      </Stack>
    </Form>
  );
}
