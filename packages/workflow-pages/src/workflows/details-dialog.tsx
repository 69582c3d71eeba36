import '@millrace/ui/i18n/parts/workflow.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { TagsInput, Textarea } from '@mantine/core';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { NameField } from './name-field.tsx';

/** A workflow's metadata. */
export interface WorkflowDetails {
  readonly name: string;
  readonly description: string;
  readonly tags: string[];
}

/** What a workflow may have. */
export const MAX = { description: 10_000, tags: 50, tag: 64 } as const;

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

/** The fields of a workflow's name, description and tags. */
export function DetailsFields({
  details,
  onChange,
}: {
  details: WorkflowDetails;
  onChange: (details: WorkflowDetails) => void;
}) {
  const { t } = useTranslation();
  const { data } = useQuery(endpointQuery('GET /orgs/:org/workflow-tags', { params: { org: useOrg() } }));
  const { name, description, tags } = details;
  const change = (part: Partial<WorkflowDetails>) => onChange({ name, description, tags, ...part });
  return (
    <>
      <NameField value={details.name} onChange={(name) => change({ name })} />
      <Textarea
        label={t('workflows.description')}
        placeholder={t('workflows.descriptionHint')}
        value={details.description}
        maxLength={MAX.description}
        rows={3}
        resize="vertical"
        onChange={({ currentTarget }) => change({ description: currentTarget.value })}
      />
      <TagsInput
        label={t('workflows.tags')}
        placeholder={details.tags.length === 0 ? t('workflows.tagsHint') : ''}
        value={details.tags}
        data={data?.tags ?? []}
        maxTags={MAX.tags}
        maxLength={MAX.tag}
        onChange={(tags) => change({ tags })}
        clearable
      />
    </>
  );
}
