import '@millrace/ui/i18n/parts/workflow.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { DetailsFields, type WorkflowDetails } from './details-fields.tsx';

/** Name, description and tags, for finding a workflow. Saving them creates no version. */
export function DetailsDialog({
  workflow,
  isBusy,
  onStore,
  onClose,
}: {
  workflow: WorkflowDetails & { readonly updated_at: string };
  isBusy: boolean;
  onStore: (details: WorkflowDetails & { readonly updated_at: string }) => void;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const [details, setDetails] = useState({
    // The list may be refetched meanwhile; don't overwrite someone else's changes.
    updated_at: workflow.updated_at,
    name: workflow.name,
    description: workflow.description,
    tags: workflow.tags,
  });
  const change = (part: Partial<WorkflowDetails>) => setDetails((old) => ({ ...old, ...part }));
  return (
    <FormDialog
      title={t('workflow.details')}
      action={t('common.save')}
      isReady={details.name.trim() !== ''}
      isBusy={isBusy}
      onSubmit={() => onStore(details)}
      onClose={onClose}
    >
      <DetailsFields details={details} onChange={change} />
      <Hint>{t('workflows.detailsHint')}</Hint>
    </FormDialog>
  );
}
