import { Button, Group } from '@mantine/core';
import { useMe } from '@millrace/ui/api/me.ts';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { Link } from '@tanstack/react-router';
import { Building2, LogOut } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useSignOut } from './sign-out.ts';

/** For users without a membership: what to do, and how to leave. */
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
