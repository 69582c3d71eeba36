import { WorkflowSelect } from '@millrace/ui/components/workflow-select.tsx';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { problemOf, type SectionProps, useSaveSettings } from './save-settings.ts';
import { Section } from './section.tsx';

/** What is started when a workflow fails that names no error workflow of its own. */
export function ErrorWorkflowSection({ settings: { error_workflow_id: saved } }: SectionProps) {
  const { t } = useTranslation();
  const [id, setId] = useState(saved);
  const save = useSaveSettings();
  return (
    <Section
      title={t('settings.errorWorkflow')}
      about={t('settings.errorWorkflowHint')}
      isChanged={id !== saved}
      isBusy={save.isPending}
      onSubmit={() => save.mutate({ error_workflow_id: id })}
    >
      <WorkflowSelect
        label={t('settings.errorWorkflowLabel')}
        placeholder={t('settings.errorWorkflowNone')}
        id={id}
        onChange={setId}
        error={problemOf(save.error, '/error_workflow_id')}
        maw={420}
      />
    </Section>
  );
}
