import '@millrace/ui/i18n/parts/conversations.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import { Alert, Button, Skeleton, Stack } from '@mantine/core';
import { useOrg, useRole, useWorkflowId } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { CopyableText, Former, Listener, Regenerate } from './webhook-panel.tsx';

/** A chat's URL, a link that opens it, what other websites include, URL regeneration, and listening for a message to test with. */
export function ChatPanel() {
  const { t } = useTranslation();
  const params = { org: useOrg(), id: useWorkflowId() ?? 0 };
  const { data, error, refetch } = useQuery(endpointQuery('GET /orgs/:org/workflows/:id/chat', { params }));
  const { can } = useRole();
  if (error !== null) return <ErrorState error={error} onRetry={refetch} />;
  if (data === undefined) return <Skeleton height={160} />;
  const isSaved = data.reason !== 'no_chat_trigger';
  return (
    <Stack gap="sm" component="section" aria-label={t('conversations.chat.label')}>
      {data.reason !== null && (
        <Alert color="orange" p="xs">
          {t(`conversations.chat.closed.${data.reason}`)}
        </Alert>
      )}
      <CopyableText label={t('conversations.chat.url')} text={data.url} />
      {data.is_open && (
        <Button
          component="a"
          href={data.url}
          target="_blank"
          variant="default"
          w="fit-content"
          leftSection={<ExternalLink size={14} />}
        >
          {t('conversations.chat.open')}
        </Button>
      )}
      <div>
        <CopyableText label={t('conversations.chat.snippet')} text={data.snippet} />
        <Hint mt={4}>
          {data.origins.length === 0
            ? t('conversations.chat.noWebsite')
            : t('conversations.chat.websites', { websites: data.origins.join(', ') })}
        </Hint>
      </div>
      {can('editor') && <Listener params={params} isOpen={data.is_open} isSaved={isSaved} />}
      {data.previous.map(({ url, valid_until: until }) => (
        <Former key={url} url={url} until={until} />
      ))}
      {can('editor') && <Regenerate params={params} />}
    </Stack>
  );
}
