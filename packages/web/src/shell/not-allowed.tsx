import type { Role } from '@millrace/admin-api';
import { Lock } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { Page } from '../ui/page.tsx';
import { EmptyState } from '../ui/states.tsx';
import type { Place } from './places.ts';

/** A page of which this role sees nothing. */
export function NotAllowed({ place, role }: { readonly place: Place; readonly role: Role }) {
  const { t } = useTranslation();
  return (
    <Page title={t(`shell.${place.name}`)}>
      <EmptyState icon={Lock} title={t('common.noPermission')}>
        {t('shell.notAllowedHint', { needs: t(`shell.role.${place.needs}`), role: t(`shell.role.${role}`) })}
      </EmptyState>
    </Page>
  );
}
