import { Button, Tooltip } from '@mantine/core';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { History } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from '../editor-context.ts';

const VersionDialog = lazyPart(async () => (await import('./version-dialog.tsx')).VersionDialog);

/** Opens the version history. */
export function VersionMenu() {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(false);
  const { workflow } = useEditorPage();
  return (
    <>
      <Tooltip label={t('editor.versions.title')}>
        <Button
          variant="subtle"
          color="gray"
          px={8}
          leftSection={<History size={16} />}
          onClick={() => setIsOpen(true)}
          aria-label={`v${workflow.version}: ${t('editor.versions.title')}`}
        >
          {`v${workflow.version}`}
        </Button>
      </Tooltip>
      {isOpen && <VersionDialog onClose={() => setIsOpen(false)} />}
    </>
  );
}
