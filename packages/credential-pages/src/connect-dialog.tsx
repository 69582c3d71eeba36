import '@millrace/ui/i18n/parts/credentials.ts';
import { Button, Group, Modal, Skeleton, Stack, Text } from '@mantine/core';
import type { Credential } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { useIsOnTop } from '@millrace/ui/components/use-is-on-top.ts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConnectionOutcome } from './connection-state.tsx';

/** Between looks at whether it was approved in the other tab. */
const LOOK_MS = 2_000;

/** Leads to the service where someone approves a credential, in a tab of its own: what is open here stays as it is. */
export function ConnectDialog({ item, onClose }: { item: Credential; onClose: () => void }) {
  const { t } = useTranslation();
  const isOnTop = useIsOnTop();
  const org = useOrg();
  const queryClient = useQueryClient();
  const start = useMutation({
    mutationFn: () =>
      call('POST /orgs/:org/credentials/:credential/connection', { params: { org, credential: item.id } }),
  });
  const startAtOnce = useEffectEvent(() => start.mutate());
  useEffect(() => startAtOnce(), []);
  const close = () => {
    void queryClient.invalidateQueries({ queryKey: ['GET /orgs/:org/credentials'] });
    onClose();
  };
  const url = start.data?.authorization_url;
  const isConnected = useConnected(item, url !== undefined);
  return (
    <Modal
      opened
      closeOnEscape={isOnTop}
      onClose={close}
      title={t('credentials.connection.title', { name: item.name })}
    >
      <Stack gap="sm">
        {isConnected ? (
          <ConnectionOutcome result="connected" role="status" />
        ) : (
          <Text size="sm">{t('credentials.connection.about')}</Text>
        )}
        {start.isPending && <Skeleton height={36} />}
        {start.isError && <ErrorState error={start.error} onRetry={() => start.mutate()} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            {t('common.close')}
          </Button>
          {url !== undefined && !isConnected && (
            <Button
              component="a"
              href={url}
              target="_blank"
              rel="noopener"
              rightSection={<ExternalLink size={14} aria-hidden />}
            >
              {t('credentials.connection.open', { host: new URL(url).host })}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}

/** Whether the credential was connected since this was first called. */
function useConnected({ id, connection }: Credential, isStarted: boolean): boolean {
  const org = useOrg();
  const [before] = useState(connection?.connected_at ?? null);
  const list = useQuery({
    ...endpointQuery('GET /orgs/:org/credentials', { params: { org } }),
    enabled: isStarted,
    refetchInterval: LOOK_MS,
  });
  const now = list.data?.items.find((one) => one.id === id)?.connection;
  return isStarted && now?.state === 'connected' && now.connected_at !== before;
}
