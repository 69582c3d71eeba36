import { Button } from '@mantine/core';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

/** To the templates that have a node which stores what is missing here; for whoever can use them. @param node its title */
export function TemplatesLink({ node }: { node: string }) {
  const { t } = useTranslation();
  const { can } = useRole();
  const params = { org: String(useOrg()) };
  if (!can('editor')) return null;
  return (
    <Button
      variant="default"
      renderRoot={(props) => (
        <Link {...props} to="/o/$org/templates" params={params} search={{ search: node } as never} />
      )}
    >
      {t('stored.templates')}
    </Button>
  );
}
