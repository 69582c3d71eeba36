import { Button, Tooltip } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { History } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from '../editor-context.ts';

/** The saved version; opens the history. */
export function VersionMenu() {
  const { t } = useTranslation();
  const { org, workflow } = useEditorPage();
  return (
    <Tooltip label={t('workplace.versions.title')}>
      <Button
        variant="subtle"
        color="gray"
        px={8}
        leftSection={<History size={16} />}
        aria-label={`v${workflow.version}: ${t('workplace.versions.title')}`}
        renderRoot={(props) => (
          <Link {...props} to={`/o/${org}/workflows/${workflow.id}/versions`} search={{}} />
        )}
      >
        {`v${workflow.version}`}
      </Button>
    </Tooltip>
  );
}
