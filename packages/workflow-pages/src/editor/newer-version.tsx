import { Alert, Button, Group, Text } from '@mantine/core';
import { useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { call } from '@millrace/ui/api/client.ts';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useTranslation } from 'react-i18next';
import { useDraftSyncState, useEditorPage } from './editor-context.ts';

/** Warns that someone else has saved or is editing, or that the workflow is archived and read-only. */
export function NewerVersion() {
  const { t } = useTranslation();
  const { org, workflow, draftSync } = useEditorPage();
  const store = useEditorStore();
  const { baseVersion, status } = useDraftSyncState('baseVersion', 'status');
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const compare = useChange(
    () =>
      call('GET /orgs/:org/workflows/:id/versions/:version', {
        params: { org, id: workflow.id, version: workflow.version },
      }),
    {
      onSuccess: (version) =>
        draftSync.state.setState({ conflict: { kind: 'version', version, message: '' } }),
    },
  );
  if (workflow.status === 'archived') {
    return <Bar text={t('workplace.archivedHint')} />;
  }
  if (workflow.version > baseVersion) {
    const show = () => {
      store.getState().allowChanges(true);
      store.getState().replaceFlow(workflow.flow_data);
      store.getState().allowChanges(!isReadOnly);
      store.getState().showProblems(workflow.problems, workflow.handles);
      draftSync.adopt({ version: workflow.version });
    };
    const author = workflow.saved.author?.name ?? t('versions.unknown');
    return (
      <Bar text={t('workplace.newerVersion', { version: workflow.version, author })}>
        {status === 'same' ? (
          <Button size="compact-xs" variant="default" onClick={show}>
            {t('workplace.showNewer')}
          </Button>
        ) : (
          <Button
            size="compact-xs"
            variant="default"
            loading={compare.isPending}
            onClick={() => compare.mutate()}
          >
            {t('workplace.compareNewer')}
          </Button>
        )}
      </Bar>
    );
  }
  const [other] = workflow.other_drafts;
  if (other === undefined || isReadOnly) return null;
  return (
    <Bar text={t('workplace.otherDraft', { name: other.name })}>
      <Moment at={other.updated_at} />
    </Bar>
  );
}

function Bar({ text, children }: { text: string; children?: React.ReactNode }) {
  return (
    <Alert py={4} px="sm" radius={0} color="yellow">
      <Group gap="xs">
        <Text size="xs">{text}</Text>
        {children}
      </Group>
    </Alert>
  );
}
