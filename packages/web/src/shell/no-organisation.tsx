import { Building2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '../ui/states.tsx';

/** Somebody with an account but without a membership. */
export function NoOrganisation() {
  const { t } = useTranslation();
  return (
    <EmptyState icon={Building2} title={t('shell.noOrganisation')}>
      {t('shell.noOrganisationHint')}
    </EmptyState>
  );
}
