import '@millrace/ui/i18n/parts/account.ts';
import { Alert, Button, Code, Divider, Stack } from '@mantine/core';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { CircleAlert, Info } from 'lucide-react';
import { Trans, useTranslation } from 'react-i18next';
import { AuthLayout } from './auth-layout.tsx';
import { SignInForm } from './sign-in-form.tsx';
import { readSignInSearch } from './sign-in-search.ts';

/** Signs in and returns to the requested page. */
export function SignInPage() {
  const { t } = useTranslation();
  // The router passes unknown search parameters through.
  const { next = '/', problem, ended } = readSignInSearch(useSearch({ strict: false }));
  const router = useRouter();
  const queryClient = useQueryClient();
  const { data: state } = useQuery(endpointQuery('GET /state'));
  const enter = () => {
    queryClient.clear();
    router.history.replace(next);
  };
  return (
    <AuthLayout title={t('account.signInTitle')}>
      <Stack gap="md">
        {problem !== undefined && (
          <Alert color="red" role="alert" icon={<CircleAlert size={16} />} p="xs">
            {t(`account.signOn.${problem}`)}
          </Alert>
        )}
        {ended === true && problem === undefined && (
          <Alert icon={<Info size={16} />} p="xs" role="status">
            {t('account.wasSignedOut')}
          </Alert>
        )}
        {state?.needs_setup === true && (
          <Alert icon={<Info size={16} />} p="xs">
            {t('account.needsSetup')}
          </Alert>
        )}
        <SignInForm action={t('account.signIn')} onDone={enter}>
          {state?.single_sign_on != null && (
            <>
              <Divider label={t('account.or')} />
              <Button
                component="a"
                size="sm"
                variant="default"
                href={`/api/admin/single-sign-on/start?return_to=${encodeURIComponent(next)}`}
              >
                {t('account.continueWith', { name: state.single_sign_on })}
              </Button>
            </>
          )}
          <details>
            <Hint component="summary" style={{ cursor: 'pointer' }}>
              {t('account.forgottenTitle')}
            </Hint>
            <Hint mt={4}>
              <Trans i18nKey="account.forgotten" components={{ command: <Code /> }} />
            </Hint>
          </details>
        </SignInForm>
      </Stack>
    </AuthLayout>
  );
}
