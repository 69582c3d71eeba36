import '@millrace/ui/i18n/parts/account.ts';
import '@millrace/ui/i18n/parts/people.ts';
import { Anchor, Button, Stack, Text } from '@mantine/core';
import type { ResponseBody } from '@millrace/admin-api';
import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { notifyDone } from '@millrace/ui/components/notify.ts';
import { ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { AuthLayout } from './auth-layout.tsx';
import { useLinkToken } from './link-token.ts';
import { NewAccountForm } from './new-account-form.tsx';
import { FormProblem } from './problems.tsx';
import { SignInForm } from './sign-in-form.tsx';

type Invitation = ResponseBody<'POST /invitation/look-up'>;

/** The page behind an invitation link. */
export function InvitationPage() {
  const { t } = useTranslation();
  const token = useLinkToken();
  if (token === null) {
    return (
      <AuthLayout title={t('account.invitationNoToken')}>
        <Text size="sm">{t('account.invitationNoTokenText')}</Text>
      </AuthLayout>
    );
  }
  return <OpenedInvitation key={token} token={token} />;
}

function OpenedInvitation({ token }: { token: string }) {
  const { t } = useTranslation();
  const invitation = useQuery({
    queryKey: ['POST /invitation/look-up', token],
    queryFn: ({ signal }) => call('POST /invitation/look-up', { body: { token }, signal }),
    // Accepting consumes the invitation: refetching it afterwards would show an error to the user who just accepted.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const person = useQuery({ queryKey: ['who opens the invitation'], queryFn: findPerson, staleTime: 0 });
  if (invitation.isError) return <UnusableInvitation error={invitation.error} onRetry={invitation.refetch} />;
  if (person.isError) return <UnusableInvitation error={person.error} onRetry={person.refetch} />;
  if (invitation.isPending || person.isPending) {
    return (
      <AuthLayout title={t('people.invitations')}>
        <LoadingRows rows={4} />
      </AuthLayout>
    );
  }
  return <InvitationChoices token={token} invitation={invitation.data} signedInAs={person.data} />;
}

/** The signed-in user's email; null if signed out, which must not redirect away from this page. */
async function findPerson(): Promise<string | null> {
  try {
    return (await call('GET /me')).user.email;
  } catch (error) {
    if (error instanceof ApiProblem && error.code === 'signed_out') return null;
    throw error;
  }
}

function UnusableInvitation({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const { t } = useTranslation();
  const isGone = error instanceof ApiProblem && error.code === 'link_not_valid';
  return (
    <AuthLayout title={t('account.invitationGone')}>
      {isGone ? (
        <Stack gap="md" align="flex-start">
          <FormProblem error={error} />
          <Muted>{t('account.invitationGoneText')}</Muted>
        </Stack>
      ) : (
        <ErrorState error={error} onRetry={onRetry} />
      )}
    </AuthLayout>
  );
}

function InvitationChoices({
  token,
  invitation,
  signedInAs,
}: {
  token: string;
  invitation: Invitation;
  signedInAs: string | null;
}) {
  const { t, i18n } = useTranslation();
  const { organisation, role, email, expires_at: expiresAt } = invitation;
  return (
    <AuthLayout title={t('account.invitationTitle', { organisation })}>
      <Stack gap="md">
        <Muted style={{ overflowWrap: 'anywhere' }}>
          {t('account.invitationText', { role: t(`shell.role.${role}`) })}{' '}
          {email !== null && t('account.invitationFor', { email })}{' '}
          {t('account.invitationUntil', {
            date: new Date(expiresAt).toLocaleString(i18n.language, {
              dateStyle: 'medium',
              timeStyle: 'short',
            }),
          })}
        </Muted>
        {signedInAs === null ? (
          <SignedOutChoices token={token} invitation={invitation} />
        ) : (
          <SignedInChoices token={token} invitation={invitation} signedInAs={signedInAs} />
        )}
      </Stack>
    </AuthLayout>
  );
}

/** Joins with the signed-in account and opens the organisation. */
function useJoin(token: string, { organisation }: Invitation) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => call('POST /invitation/join', { body: { token } }),
    onSuccess: async ({ organisation_id: id }) => {
      queryClient.clear();
      notifyDone(t('account.joined', { organisation }));
      await navigate({ to: '/o/$org', params: { org: String(id) }, replace: true });
    },
  });
}

function SignedInChoices({
  token,
  invitation,
  signedInAs,
}: {
  token: string;
  invitation: Invitation;
  signedInAs: string;
}) {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const join = useJoin(token, invitation);
  const leave = useMutation({
    mutationFn: () => call('POST /sign-out'),
    onSettled: () => queryClient.resetQueries(),
  });
  const isOther = invitation.email !== null && invitation.email !== signedInAs;
  return (
    <Stack gap="sm">
      <FormProblem error={join.error} />
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {isOther
          ? t('account.signedInAsOther', { email: signedInAs, wanted: invitation.email ?? '' })
          : t('account.signedInAs', { email: signedInAs })}
      </Text>
      {!isOther && (
        <Button size="sm" loading={join.isPending} onClick={() => join.mutate()}>
          {t('account.join')}
        </Button>
      )}
      <Text size="sm">
        <Anchor component="button" type="button" onClick={() => leave.mutate()}>
          {t('account.useOtherAccount')}
        </Anchor>
      </Text>
    </Stack>
  );
}

function SignedOutChoices({ token, invitation }: { token: string; invitation: Invitation }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const join = useJoin(token, invitation);
  const [hasAccount, setHasAccount] = useState((invitation.has_account ?? false) && !invitation.takes_over);
  const { data: state } = useQuery(endpointQuery('GET /state'));
  const bound = invitation.email === null ? {} : { email: invitation.email };
  const enter = async () => {
    queryClient.clear();
    await navigate({ to: '/', replace: true });
  };
  return (
    <Stack gap="sm">
      <FormProblem error={join.error} />
      {invitation.takes_over && !hasAccount && <Text size="sm">{t('account.takesOver')}</Text>}
      {hasAccount ? (
        <SignInForm {...bound} action={t('account.signInToJoin')} onDone={() => join.mutateAsync()} />
      ) : (
        <NewAccountForm
          {...bound}
          endpoint="POST /invitation/accept"
          token={token}
          action={t('account.makeAccount')}
          onDone={enter}
        />
      )}
      {state?.single_sign_on != null && invitation.email !== null && (
        <Button component="a" size="sm" variant="default" href="/api/admin/single-sign-on/start">
          {t('account.continueWith', { name: state.single_sign_on })}
        </Button>
      )}
      {(invitation.has_account === null || invitation.takes_over) && (
        <Text size="sm">
          <Anchor component="button" type="button" onClick={() => setHasAccount(!hasAccount)}>
            {hasAccount ? t('account.haveNoAccount') : t('account.haveAccount')}
          </Anchor>
        </Text>
      )}
    </Stack>
  );
}
