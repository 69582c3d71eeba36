import '@millrace/ui/i18n/parts/workflow.ts';
import { Menu } from '@mantine/core';
import { addressOf } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { Download } from 'lucide-react';
import { useTranslation } from 'react-i18next';

/** A menu item that downloads the saved workflow. */
export function ExportItem({ workflowId }: { workflowId: number }) {
  const { t } = useTranslation();
  const params = { org: useOrg(), id: workflowId };
  return (
    <Menu.Item
      component="a"
      href={addressOf('GET /orgs/:org/workflows/:id/export', { params })}
      download
      leftSection={<Download size={14} />}
    >
      {t('workflow.export')}
    </Menu.Item>
  );
}
