import { Alert, Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Radio, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { useEvents } from '../api/events.ts';
import { useOrg, useRole } from '../api/me.ts';
import { endpointKey, endpointQuery } from '../api/query.ts';
import { useEditor } from '../canvas/store.ts';
import { ConfirmDialog } from '../ui/confirm.tsx';
import { CopyIcon } from '../ui/copy.tsx';
import { notifyDone, notifyFailure } from '../ui/notify.ts';
import { ErrorState } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';

/** The address of a webhook, how to call it, a new address, and listening for a call to build with. */
export function WebhookPanel() {
  const { t } = useTranslation();
  const org = useOrg();
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string };
  const params = { org, id };
  const { data, error, refetch } = useQuery(
    endpointQuery('GET /orgs/:org/workflows/:id/webhook', { params }),
  );
  const { can } = useRole();
  if (error !== null) return <ErrorState error={error} onRetry={refetch} />;
  if (data === undefined) return <Skeleton height={160} />;
  return (
    <Stack gap="sm" component="section" aria-label={t('forms.webhook')}>
      {data.reason !== null && (
        <Alert color="orange" p="xs">
          {t(`forms.webhookClosed.${data.reason}`)}
        </Alert>
      )}
      <CopyableText label={t('forms.webhookUrl')} text={data.url} />
      <CopyableText label="curl" text={data.curl} />
      {data.signature !== null && (
        <Text size="xs" c="dimmed">
          {t('forms.webhookSigned', { preset: data.signature.preset, header: data.signature.header })}
        </Text>
      )}
      {data.previous.map(({ hash, valid_until: until }) => (
        <Text key={hash} size="xs" c="dimmed">
          {t('forms.webhookPrevious')} <Moment at={until} />
        </Text>
      ))}
      {can('editor') && <Listener params={params} isOpen={data.is_open} />}
      {can('editor') && <Regenerate params={params} />}
    </Stack>
  );
}

interface WorkflowParams {
  readonly params: { readonly org: number; readonly id: string };
}

function CopyableText({ label, text }: { readonly label: string; readonly text: string }) {
  const { t } = useTranslation();
  return (
    <div>
      <Group justify="space-between">
        <Text size="xs" fw={500}>
          {label}
        </Text>
        <CopyIcon text={text} label={t('forms.copyOf', { label })} />
      </Group>
      <Code block fz="xs" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {text}
      </Code>
    </div>
  );
}

/** Waits for the next call and makes it the sample. */
function Listener({ params, isOpen }: WorkflowParams & { readonly isOpen: boolean }) {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const showSample = useEditor((state) => state.showSample);
  const [after, setAfter] = useState<number | null>(null);
  const start = useMutation({
    mutationFn: () => call('POST /orgs/:org/workflows/:id/sample-listener', { params }),
    onSuccess: ({ revision }) => setAfter(revision),
    onError: notifyFailure,
  });
  const stop = useMutation({
    mutationFn: () => call('DELETE /orgs/:org/workflows/:id/sample-listener', { params }),
    onSettled: () => setAfter(null),
  });
  useEvents(
    'GET /orgs/:org/workflows/:id/sample-listener/events',
    { params, query: { after: after ?? 0 } },
    {
      sample: (sample) => {
        setAfter(null);
        showSample(sample.data);
        notifyDone(t('forms.sampleTaken'));
        void queryClient.invalidateQueries({
          queryKey: endpointKey('GET /orgs/:org/workflows/:id/inputs', { params }),
        });
        void queryClient.invalidateQueries({
          queryKey: endpointKey('GET /orgs/:org/workflows/:id/sample', { params }),
        });
      },
      ended: () => setAfter(null),
    },
    after !== null,
  );
  if (after === null) {
    return (
      <Button
        variant="default"
        leftSection={<Radio size={14} />}
        loading={start.isPending}
        disabled={!isOpen}
        onClick={() => start.mutate()}
      >
        {t('forms.listen')}
      </Button>
    );
  }
  return (
    <Alert color="teal" p="xs" role="status" title={t('forms.listening')}>
      <Stack gap="xs">
        <Text size="xs">{t('forms.listeningAbout')}</Text>
        <Button variant="default" w="fit-content" onClick={() => stop.mutate()}>
          {t('forms.stopListening')}
        </Button>
      </Stack>
    </Alert>
  );
}

/** A new address; the one before works for a day more. */
function Regenerate({ params }: WorkflowParams) {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);
  const regenerate = useMutation({
    mutationFn: () => call('POST /orgs/:org/workflows/:id/webhook/regenerate', { params, body: {} }),
    onSuccess: (webhook) => {
      queryClient.setQueryData(
        endpointQuery('GET /orgs/:org/workflows/:id/webhook', { params }).queryKey,
        webhook,
      );
      notifyDone(t('forms.regenerated'));
      setIsAsking(false);
    },
    onError: notifyFailure,
  });
  return (
    <>
      <Button
        variant="subtle"
        color="gray"
        w="fit-content"
        leftSection={<RefreshCw size={14} />}
        onClick={() => setIsAsking(true)}
      >
        {t('forms.regenerate')}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        title={t('forms.regenerate')}
        action={t('forms.regenerateAction')}
        isBusy={regenerate.isPending}
        onConfirm={() => regenerate.mutate()}
        onClose={() => setIsAsking(false)}
      >
        {t('forms.regenerateAbout')}
      </ConfirmDialog>
    </>
  );
}
