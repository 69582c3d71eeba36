import '@millrace/ui/i18n/parts/account.ts';
import { Button, Stack, Text } from '@mantine/core';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { AuthLayout } from './auth-layout.tsx';
import { useLinkToken } from './link-token.ts';
import { NewAccountForm } from './new-account-form.tsx';

/** Creates the first account with the setup link. */
export function SetupPage() {
  const { t } = useTranslation();
  const token = useLinkToken();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const state = useQuery(endpointQuery('GET /state'));
  const enter = async () => {
    queryClient.clear();
    await navigate({ to: '/', replace: true });
  };
  if (!state.isSuccess) {
    return (
      <AuthLayout title={t('account.setupTitle')}>
        <QueryState query={state} rows={4} />
      </AuthLayout>
    );
  }
  if (!state.data.needs_setup) {
    return (
      <AuthLayout title={t('account.setupDoneTitle')}>
        <Stack gap="md" align="flex-start">
          <Text size="sm">{t('account.setupDoneText')}</Text>
          <Button component={Link} to="/sign-in" size="sm">
            {t('account.toSignIn')}
          </Button>
        </Stack>
      </AuthLayout>
    );
  }
  if (token === null) {
    return (
      <AuthLayout title={t('account.setupNoTokenTitle')}>
        <Text size="sm">{t('account.setupNoTokenText')}</Text>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title={t('account.setupTitle')}>
      <Stack gap="md">
        <Muted>{t('account.setupText')}</Muted>
        <NewAccountForm
          endpoint="POST /setup"
          token={token}
          action={t('account.setupAction')}
          onDone={enter}
        />
      </Stack>
    </AuthLayout>
  );
}
