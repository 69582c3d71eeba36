import '@millrace/ui/i18n/parts/trying.ts';
import '@millrace/ui/i18n/parts/conversations.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import { Skeleton } from '@mantine/core';
import { useOrg, useWorkflowId } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { AddressPanel } from './address-panel.tsx';
import { ForWebsites } from './for-websites.tsx';
import { FormFields } from './form-fields.tsx';

/** A form's address, what it asks for, what other websites include, and listening for a submission to test with. @param nodeId of its trigger */
export function FormPanel({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation();
  const params = { org: useOrg(), id: useWorkflowId() ?? 0 };
  const { data, error, refetch } = useQuery(
    endpointQuery('GET /orgs/:org/workflows/:id/form', { params, query: { node: nodeId } }),
  );
  if (error !== null) return <ErrorState error={error} onRetry={refetch} />;
  if (data === undefined) return <Skeleton height={120} />;
  const texts = {
    ...{ label: t('forms.form'), url: t('forms.formUrl'), open: t('forms.openForm') },
    closed: data.reason === null ? null : t(`forms.formClosed.${data.reason}`),
  };
  const isSaved = data.reason !== 'no_form_trigger';
  return (
    <AddressPanel params={params} address={data} isSaved={isSaved} texts={texts}>
      <FormFields nodeId={nodeId} />
      {isSaved && <ForWebsites page={data} none={t('conversations.websites.noneForForm')} />}
    </AddressPanel>
  );
}
