import '@millrace/ui/i18n/parts/workflow.ts';
import { ActionIcon, Menu } from '@mantine/core';
import { useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { call } from '@millrace/ui/api/client.ts';
import { useRole } from '@millrace/ui/api/me.ts';
import { endpointKey, noteFailure } from '@millrace/ui/api/query.ts';
import { ConfirmLater } from '@millrace/ui/components/confirm-later.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { notifyDone, notifyFailure } from '@millrace/ui/components/notify.ts';
import { useQueryClient } from '@tanstack/react-query';
import { Braces, Copy, EllipsisVertical, Settings2, Tags, Undo } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ExportItem } from '../workflows/export-item.tsx';
import { useWorkflowChanges } from '../workflows/workflow-changes.ts';
import { useDraftSync, useEditorPage } from './editor-context.ts';

const DetailsDialog = lazyPart(async () => (await import('../workflows/details-dialog.tsx')).DetailsDialog);

/** Less frequent actions. */
export function MoreMenu({ onSettings }: { onSettings: () => void }) {
  const { t } = useTranslation();
  const { org, workflow, draftSync } = useEditorPage();
  const { can } = useRole();
  const store = useEditorStore();
  const queryClient = useQueryClient();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const hasDraft = useDraftSync(({ status }) => status !== 'same');
  const { duplicate, update } = useWorkflowChanges(workflow.id);
  const [isAsking, setIsAsking] = useState(false);
  const [isDescribing, setIsDescribing] = useState(false);
  const params = { org, id: workflow.id };
  const copy = async () => {
    const text = JSON.stringify({ name: workflow.name, flow_data: store.getState().toFlow() }, null, 2);
    await navigator.clipboard.writeText(text);
    notifyDone(t('common.copied'));
  };
  const discard = async () => {
    setIsAsking(false);
    try {
      await draftSync.keepNow();
      await call('DELETE /orgs/:org/workflows/:id/draft', { params });
      store.getState().replaceFlow(workflow.flow_data);
      store.getState().showProblems(workflow.problems, workflow.handles);
      draftSync.adopt({ version: workflow.version });
      await queryClient.invalidateQueries({
        queryKey: endpointKey('GET /orgs/:org/workflows/:id', { params }),
      });
      notifyDone(t('workplace.discarded'));
    } catch (error) {
      notifyFailure(error as Error);
      noteFailure(queryClient, error);
    }
  };
  return (
    <>
      <Menu position="bottom-end" width={240}>
        <Menu.Target>
          <ActionIcon aria-label={t('workplace.more')}>
            <EllipsisVertical size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Settings2 size={14} />} onClick={onSettings}>
            {t('workplace.settings')}
          </Menu.Item>
          {!isReadOnly && (
            <Menu.Item leftSection={<Tags size={14} />} onClick={() => setIsDescribing(true)}>
              {t('workflow.details')}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<Braces size={14} />} onClick={() => void copy()}>
            {t('workplace.copyJson')}
          </Menu.Item>
          <ExportItem workflowId={workflow.id} />
          {can('editor') && (
            <Menu.Item
              leftSection={<Copy size={14} />}
              onClick={() => duplicate.mutate(t('workflow.copyOf', { name: workflow.name }).slice(0, 255))}
            >
              {t('workflow.duplicate')}
            </Menu.Item>
          )}
          {!isReadOnly && (
            <>
              <Menu.Divider />
              <Menu.Item
                color="red"
                disabled={!hasDraft}
                leftSection={<Undo size={14} />}
                onClick={() => setIsAsking(true)}
              >
                {t('workplace.discard')}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {isAsking && (
        <ConfirmLater
          title={t('workplace.discardTitle')}
          action={t('workplace.discard')}
          onConfirm={() => void discard()}
          onClose={() => setIsAsking(false)}
        >
          {t('workplace.discardText', { version: workflow.version })}
        </ConfirmLater>
      )}
      {isDescribing && (
        <DetailsDialog
          workflow={workflow}
          isBusy={update.isPending}
          onStore={(details) => update.mutate(details, { onSuccess: () => setIsDescribing(false) })}
          onClose={() => setIsDescribing(false)}
        />
      )}
    </>
  );
}
