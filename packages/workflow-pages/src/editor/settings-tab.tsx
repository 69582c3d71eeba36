import '@millrace/ui/i18n/parts/setting.ts';
import '@millrace/ui/i18n/parts/workplace.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { Button, Group, Stack, Switch, Text, Title } from '@mantine/core';
import { FlowSettingsForm } from '@millrace/editor/node-panel/flow-settings.tsx';
import { useEditor } from '@millrace/editor-model/store.ts';
import { useRole } from '@millrace/ui/api/me.ts';
import { Muted } from '@millrace/ui/components/text.tsx';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { DetailsFields, type WorkflowDetails } from '../workflows/details-fields.tsx';
import { StatusBadge } from '../workflows/status-badge.tsx';
import { ActivationSwitch } from './activation-switch.tsx';
import { useEditorPage } from './editor-context.ts';
import { useWorkflowUpdate } from './use-workflow-update.ts';

/** What isn't on the canvas: whether it is in use, what it is called, and how it runs. */
export function SettingsTab() {
  const { t } = useTranslation();
  const { can } = useRole();
  const { workflow } = useEditorPage();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const update = useWorkflowUpdate();
  return (
    <Stack gap="xl" p={{ base: 'sm', sm: 'lg' }} maw={760} mx="auto" w="100%">
      <Section title={t('workplace.tabs.use')}>
        <Group gap="sm">
          <StatusBadge status={workflow.status} />
          {!isReadOnly && <ActivationSwitch />}
        </Group>
        <Muted>{t(`workplace.statusMeans.${workflow.status}`)}</Muted>
        {can('editor') && (
          <Switch
            label={t('workplace.testMode.label')}
            description={t('workplace.testMode.what')}
            checked={workflow.is_test_mode}
            disabled={update.isPending || workflow.status === 'archived'}
            onChange={({ currentTarget }) => update.mutate({ is_test_mode: currentTarget.checked })}
          />
        )}
      </Section>
      {!isReadOnly && (
        <Section title={t('workflow.details')}>
          <Details key={JSON.stringify(pick(workflow))} />
        </Section>
      )}
      <Section title={t('workplace.settings')}>
        <FlowSettingsForm />
      </Section>
    </Stack>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack component="section" gap="sm" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

function Details() {
  const { t } = useTranslation();
  const { workflow } = useEditorPage();
  const update = useWorkflowUpdate();
  const [details, setDetails] = useState<WorkflowDetails>({
    name: workflow.name,
    description: workflow.description,
    tags: workflow.tags,
  });
  const isSame = JSON.stringify(details) === JSON.stringify(pick(workflow));
  return (
    <>
      <DetailsFields details={details} onChange={setDetails} />
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {t('workflows.detailsHint')}
        </Text>
        <Button
          variant="default"
          disabled={isSame || details.name.trim() === ''}
          loading={update.isPending}
          onClick={() => update.mutate({ ...details })}
        >
          {t('common.save')}
        </Button>
      </Group>
    </>
  );
}

const pick = ({ name, description, tags }: WorkflowDetails) => ({ name, description, tags });
