import type { Role } from '@millrace/admin-api';
import { Page } from '@millrace/ui/components/page.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { Lock } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { NavigationItem } from './navigation-items.ts';

/** A page of which this role sees nothing. */
export function NotAllowed({ place, role }: { place: NavigationItem; role: Role }) {
  const { t } = useTranslation();
  return (
    <Page title={t(`shell.place.${place.name}`)}>
      <EmptyState icon={Lock} title={t('common.noPermission')}>
        {t('shell.notAllowedHint', { needs: t(`shell.role.${place.needs}`), role: t(`shell.role.${role}`) })}
      </EmptyState>
    </Page>
  );
}
