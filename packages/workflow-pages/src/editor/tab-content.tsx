import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { Box } from '@mantine/core';
import { ExecutionsPage } from '@millrace/execution-pages/list/executions-page.tsx';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from './editor-context.ts';
import { SettingsTab } from './settings-tab.tsx';
import { VersionHistory } from './versions/version-history.tsx';
import type { WorkflowTab } from './workflow-tabs.tsx';

/** The tabs of a workflow beside the editor. */
export function TabContent({
  tab,
  onEditor,
}: {
  tab: Exclude<WorkflowTab, 'editor'>;
  /** Back to the editor. */
  onEditor: () => void;
}) {
  const { t } = useTranslation();
  const { workflow } = useEditorPage();
  switch (tab) {
    case 'executions':
      return <ExecutionsPage workflowId={workflow.id} />;
    case 'versions':
      return (
        <Box component="section" p={{ base: 'sm', sm: 'lg' }} aria-label={t('editor.versions.title')}>
          <VersionHistory onDone={onEditor} />
        </Box>
      );
    case 'settings':
      return <SettingsTab />;
  }
}
