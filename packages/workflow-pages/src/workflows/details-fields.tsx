import { TagsInput, Textarea } from '@mantine/core';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { useQuery } from '@tanstack/react-query';
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
