import '@millrace/ui/i18n/parts/polling.ts';
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

/** When a trigger polls, how the last poll ended, and a button to poll now; or whether it is connected. */
export function PollStatus({ nodeId, isListening }: { nodeId: string; isListening: boolean }) {
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
    <Stack
      gap={6}
      component="section"
      aria-label={t(isListening ? 'polling.connection.label' : 'polling.label')}
    >
      {polling === null || polling.next_poll_at === null ? (
        <Hint>{t(isListening ? 'polling.connection.inactive' : 'polling.inactive')}</Hint>
      ) : polling.listens ? (
        <Listening polling={polling} next={polling.next_poll_at} of={{ params, nodeId }} />
      ) : (
        <Active polling={polling} next={polling.next_poll_at} of={{ params, nodeId }} />
      )}
    </Stack>
  );
}

function Active({ polling, next, of }: { polling: Polling; next: string; of: Subject }) {
  const { t } = useTranslation();
  const { last_poll_at: last, last_error: failure, failures } = polling;
  return (
    <>
      <LastError
        failure={failure}
        title={failures > 0 ? t('polling.failures', { count: failures }) : undefined}
      />
      <Line label={t('polling.last')}>{last === null ? t('polling.never') : <Moment at={last} />}</Line>
      <Line label={t('polling.next')}>
        {polling.is_polling ? t('polling.running') : <Moment at={next} />}
      </Line>
      <Line label={t('polling.started')}>{polling.started}</Line>
      <PollNow of={of} label={t('polling.now')} />
    </>
  );
}

/** A trigger of a workflow. */
interface Subject {
  readonly params: { readonly org: number; readonly id: number };
  readonly nodeId: string;
}

/** Of a trigger that keeps a connection. */
function Listening({ polling, next, of }: { polling: Polling; next: string; of: Subject }) {
  const { t } = useTranslation();
  const { last_poll_at: last, last_error: failure, failures, is_polling: isConnected } = polling;
  if (polling.is_test_mode) return <Hint>{t('polling.connection.testMode')}</Hint>;
  const isRetrying = !isConnected && failures > 0;
  return (
    <>
      <LastError
        failure={failure}
        title={failures > 0 ? t('polling.connection.failures', { count: failures }) : undefined}
      />
      <Line label={t(isRetrying ? 'polling.connection.retry' : 'polling.connection.status')}>
        {isRetrying ? (
          <Moment at={next} />
        ) : (
          t(isConnected ? 'polling.connection.connected' : 'polling.connection.waiting')
        )}
      </Line>
      <Line label={t('polling.connection.last')}>
        {last === null ? t('polling.never') : <Moment at={last} />}
      </Line>
      <Line label={t('polling.started')}>{polling.started}</Line>
      {isRetrying && <PollNow of={of} label={t('polling.connection.now')} />}
    </>
  );
}

function LastError({ failure, title }: { failure: Polling['last_error']; title: string | undefined }) {
  if (failure === null) return null;
  return (
    <Alert color={title === undefined ? 'orange' : 'red'} p="xs" title={title}>
      <Text size="xs">{translateMessage(failure)}</Text>
    </Alert>
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

function PollNow({ of: { params, nodeId }, label }: { of: Subject; label: string }) {
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
      {label}
    </Button>
  );
}
