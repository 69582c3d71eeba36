import '@millrace/ui/i18n/parts/forms.ts';
import { Alert, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import type { Polling } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg, useRole, useWorkflowId } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { useQuery } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

const LOOK_MS = 10_000;
const LOOK_WHILE_POLLING_MS = 1_000;

/** When a trigger polls, how the last poll ended, and a button to poll now. */
export function PollStatus({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation();
  const params = { org: useOrg(), id: useWorkflowId() ?? 0 };
  const { data, error, refetch } = useQuery({
    ...endpointQuery('GET /orgs/:org/workflows/:id/polling', { params, query: { node: nodeId } }),
    refetchInterval: ({ state }) =>
      state.data?.polling?.is_polling === true ? LOOK_WHILE_POLLING_MS : LOOK_MS,
  });
  if (error !== null) return <ErrorState error={error} onRetry={refetch} />;
  if (data === undefined) return <Skeleton height={80} />;
  const { polling } = data;
  return (
    <Stack gap={6} component="section" aria-label={t('forms.polling.label')}>
      {polling === null || polling.next_poll_at === null ? (
        <Hint>{t('forms.polling.inactive')}</Hint>
      ) : (
        <Active polling={polling} next={polling.next_poll_at} nodeId={nodeId} params={params} />
      )}
    </Stack>
  );
}

function Active({
  polling,
  next,
  nodeId,
  params,
}: {
  polling: Polling;
  next: string;
  nodeId: string;
  params: { readonly org: number; readonly id: number };
}) {
  const { t } = useTranslation();
  const { last_poll_at: last, last_error: failure, failures } = polling;
  return (
    <>
      {failure !== null && (
        <Alert
          color={failures > 0 ? 'red' : 'orange'}
          p="xs"
          title={failures > 0 ? t('forms.polling.failures', { count: failures }) : undefined}
        >
          <Text size="xs">{translateMessage(failure)}</Text>
        </Alert>
      )}
      <Line label={t('forms.polling.last')}>
        {last === null ? t('forms.polling.never') : <Moment at={last} />}
      </Line>
      <Line label={t('forms.polling.next')}>
        {polling.is_polling ? t('forms.polling.running') : <Moment at={next} />}
      </Line>
      <Line label={t('forms.polling.started')}>{polling.started}</Line>
      <PollNow nodeId={nodeId} params={params} />
    </>
  );
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Group justify="space-between" gap="xs">
      <Text size="xs" fw={600}>
        {label}
      </Text>
      <Text size="xs" component="span">
        {children}
      </Text>
    </Group>
  );
}

function PollNow({
  nodeId,
  params,
}: {
  nodeId: string;
  params: { readonly org: number; readonly id: number };
}) {
  const { t } = useTranslation();
  const { can } = useRole();
  const poll = useChange(
    () => call('POST /orgs/:org/workflows/:id/polling', { params, query: { node: nodeId } }),
    {
      refreshes: ['GET /orgs/:org/workflows/:id/polling'],
    },
  );
  if (!can('editor')) return null;
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<RefreshCw size={14} />}
      loading={poll.isPending}
      onClick={() => poll.mutate()}
    >
      {t('forms.polling.now')}
    </Button>
  );
}
