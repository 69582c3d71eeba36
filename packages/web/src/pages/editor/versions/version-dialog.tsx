import '@millrace/ui/i18n/parts/editor.ts';
import { Modal } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { VersionHistory } from './version-history.tsx';

/** The version history above the editor. */
export function VersionDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal opened onClose={onClose} title={t('editor.versions.title')} size="90rem">
      <VersionHistory onDone={onClose} />
    </Modal>
  );
}
