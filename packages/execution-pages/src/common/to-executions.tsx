import { Button } from '@mantine/core';
import { useOrg } from '@millrace/ui/api/me.ts';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

/** From a page without an execution to the list. */
export function ToExecutions() {
  const { t } = useTranslation();
  return (
    <Button component={Link} to={`/o/${useOrg()}/executions`} variant="default">
      {t('executions.detail.toList')}
    </Button>
  );
}
