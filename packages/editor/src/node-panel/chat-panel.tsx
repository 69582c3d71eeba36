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

/** A chat's address, what other websites include, and listening for a message to test with. */
export function ChatPanel() {
  const { t } = useTranslation();
  const params = { org: useOrg(), id: useWorkflowId() ?? 0 };
  const { data, error, refetch } = useQuery(endpointQuery('GET /orgs/:org/workflows/:id/chat', { params }));
  if (error !== null) return <ErrorState error={error} onRetry={refetch} />;
  if (data === undefined) return <Skeleton height={160} />;
  const texts = {
    label: t('conversations.chat.label'),
    url: t('conversations.chat.url'),
    open: t('conversations.chat.open'),
    closed: data.reason === null ? null : t(`conversations.chat.closed.${data.reason}`),
  };
  return (
    <AddressPanel params={params} address={data} isSaved={data.reason !== 'no_chat_trigger'} texts={texts}>
      <ForWebsites page={data} none={t('conversations.websites.noneForChat')} />
    </AddressPanel>
  );
}
