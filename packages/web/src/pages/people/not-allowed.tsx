import { Lock } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useMe, useRole } from '../../api/me.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState, LoadingRows } from '../../ui/states.tsx';

/** A page of which this role sees nothing: the service would refuse all of it. */
export function NotAllowed({ title }: { readonly title: string }) {
  const { t } = useTranslation();
  const isKnown = useMe() !== undefined;
  const { role } = useRole();
  return (
    <Page title={title}>
      {isKnown ? (
        <EmptyState icon={Lock} title={t('common.noPermission')}>
          {t('people.notAllowedHint', { role: t(`shell.role.${role}`) })}
        </EmptyState>
      ) : (
        <LoadingRows />
      )}
    </Page>
  );
}
