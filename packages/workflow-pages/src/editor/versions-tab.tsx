import '@millrace/ui/i18n/parts/setting.ts';
import '@millrace/ui/i18n/parts/workplace.ts';
import '@millrace/ui/i18n/parts/versions.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import { Box } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { VersionHistory } from './versions/version-history.tsx';

/** @param onEditor back to the editor */
export function VersionsTab({ onEditor }: { onEditor: () => void }) {
  const { t } = useTranslation();
  return (
    <Box component="section" p={{ base: 'sm', sm: 'lg' }} aria-label={t('workplace.versions.title')}>
      <VersionHistory onDone={onEditor} />
    </Box>
  );
}
