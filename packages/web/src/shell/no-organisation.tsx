import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Building2, LogOut } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../api/me.ts';
import { useSignOut } from '../api/sign-out.ts';
import { EmptyState } from '../ui/states.tsx';

/** Somebody with an account but without a membership: what to do, and the ways out. */
export function NoOrganisation() {
  const { t } = useTranslation();
  const email = useMe()?.user.email ?? '';
  const signOut = useSignOut();
  return (
    <main>
      <EmptyState
        icon={Building2}
        title={t('shell.noOrganisation')}
        action={
          <Group gap="xs" justify="center">
            <Button variant="default" component={Link} to="/account">
              {t('shell.account')}
            </Button>
            <Button
              variant="default"
              leftSection={<LogOut size={14} />}
              loading={signOut.isPending}
              onClick={() => signOut.mutate()}
            >
              {t('shell.signOut')}
            </Button>
          </Group>
        }
      >
        {t('shell.noOrganisationHint', { email })}
      </EmptyState>
    </main>
  );
}
