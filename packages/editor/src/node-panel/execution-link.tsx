import { Anchor } from '@mantine/core';
import { useOrg } from '@millrace/ui/api/me.ts';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

/** A link to an execution, labelled with its number. */
export function ExecutionLink({ id }: { id: number }) {
  const { t } = useTranslation();
  const org = useOrg();
  return (
    <Anchor size="xs" renderRoot={(props) => <Link {...props} to={`/o/${org}/executions/${id}` as '/'} />}>
      {t('trying.execution', { id })}
    </Anchor>
  );
}
