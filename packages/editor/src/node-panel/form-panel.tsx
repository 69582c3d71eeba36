import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import { Alert, Button, Skeleton, Stack } from '@mantine/core';
import { useOrg, useRole, useWorkflowId } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { useQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { CopyableText, Former, Listener, Regenerate } from './webhook-panel.tsx';

/** A form's URL, a link that opens it, URL regeneration, and listening for a submission to test with. @param nodeId of its trigger */
export function FormPanel({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation();
  const params = { org: useOrg(), id: useWorkflowId() ?? 0 };
  const { data, error, refetch } = useQuery(
    endpointQuery('GET /orgs/:org/workflows/:id/form', { params, query: { node: nodeId } }),
  );
  const { can } = useRole();
  if (error !== null) return <ErrorState error={error} onRetry={refetch} />;
  if (data === undefined) return <Skeleton height={120} />;
  const isSaved = data.reason !== 'no_form_trigger';
  return (
    <Stack gap="sm" component="section" aria-label={t('forms.form')}>
      {data.reason !== null && (
        <Alert color="orange" p="xs">
          {t(`forms.formClosed.${data.reason}`)}
        </Alert>
      )}
      <CopyableText label={t('forms.formUrl')} text={data.url} />
      {data.is_open && (
        <Button
          component="a"
          href={data.url}
          target="_blank"
          variant="default"
          w="fit-content"
          leftSection={<ExternalLink size={14} />}
        >
          {t('forms.openForm')}
        </Button>
      )}
      {can('editor') && <Listener params={params} isOpen={data.is_open} isSaved={isSaved} />}
      {data.previous.map(({ url, valid_until: until }) => (
        <Former key={url} url={url} until={until} />
      ))}
      {can('editor') && <Regenerate params={params} />}
    </Stack>
  );
}
