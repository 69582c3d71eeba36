import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Link } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { useTranslation } from 'react-i18next';

export function ToList({ org }: { org: number }) {
  const { t } = useTranslation();
  return (
    <IconButton
      icon={ArrowLeft}
      label={t('workplace.toList')}
      renderRoot={(props) => <Link {...props} to="/o/$org/workflows" params={{ org: String(org) }} />}
    />
  );
}
