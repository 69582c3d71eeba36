import { Alert, Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core';
import type { Events, Sample, Webhook } from '@millrace/admin-api';
import { useEditor } from '@millrace/editor-model/store.ts';
import { isJsonObject, type JsonValue } from '@millrace/engine';
import { call } from '@millrace/ui/api/client.ts';
import { serviceNow } from '@millrace/ui/api/clock.ts';
import { useEvents } from '@millrace/ui/api/events.ts';
import { useOrg, useRole, useWorkflowId } from '@millrace/ui/api/me.ts';
import { endpointKey, endpointQuery } from '@millrace/ui/api/query.ts';
import { CopyIcon } from '@millrace/ui/components/copy.tsx';
import { ConfirmChange } from '@millrace/ui/components/form-dialog.tsx';
import { JsonViewer } from '@millrace/ui/components/json-viewer.tsx';
import { notifyDone, notifyWarning } from '@millrace/ui/components/notify.ts';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Radio, RefreshCw } from 'lucide-react';
import { useContext, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatLongDuration } from '../fields/format-amount.ts';
import { SaveFlow } from '../form/save-flow.ts';
import { ExecutionLink } from './execution-link.tsx';

/** A webhook's URL, example calls, URL regeneration, and listening for a test call. @param nodeId of its trigger */
export function WebhookPanel({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation();
  const org = useOrg();
  const id = useWorkflowId() ?? 0;
  const params = { org, id };
  const { data, error, refetch } = useQuery(
    endpointQuery('GET /orgs/:org/workflows/:id/webhook', { params, query: { node: nodeId } }),
  );
  const { can } = useRole();
  if (error !== null) return <ErrorState error={error} onRetry={refetch} />;
  if (data === undefined) return <Skeleton height={160} />;
  return (
    <Stack gap="sm" component="section" aria-label={t('forms.webhook')}>
      {data.reason !== null && !(data.reason === 'no_webhook_trigger' && can('editor')) && (
        <Alert color="orange" p="xs">
          {t(`forms.webhookClosed.${data.reason}`)}
        </Alert>
      )}
      <CopyableText label={t('forms.webhookUrl')} text={data.url} />
      {can('editor') && (
        <Listener params={params} isOpen={data.is_open} isSaved={data.reason !== 'no_webhook_trigger'} />
      )}
      <CopyableText label="curl" text={data.curl} />
      {data.signature !== null && <Hint>{t('forms.webhookSigned')}</Hint>}
      <UnsavedSignature nodeId={nodeId} saved={data.signature} />
      {data.previous.map(({ hash, url, valid_until: until }) => (
        <Former key={hash} url={url} until={until} />
      ))}
      {can('editor') && <Regenerate params={params} />}
    </Stack>
  );
}

/** Changes here apply to calls only after saving. */
function UnsavedSignature({ nodeId, saved }: { nodeId: string; saved: Webhook['signature'] }) {
  const { t } = useTranslation();
  const trigger = useEditor(({ nodes }) => nodes.find(({ id }) => id === nodeId));
  const here = trigger?.data?.config?.signature;
  const own = here !== undefined && here !== null && isJsonObject(here) ? here : null;
  const isSame =
    own?.preset === saved?.preset && (own?.credential_id ?? null) === (saved?.credential_id ?? null);
  return isSame ? null : (
    <Alert color="orange" p="xs">
      {t(saved === null ? 'forms.signatureUnsaved' : 'forms.signatureChanged')}
    </Alert>
  );
}

const MINUTE_MS = 60_000;

/** A replaced URL and how much longer it works. */
export function Former({ url, until }: { url: string; until: string }) {
  const { t, i18n } = useTranslation();
  const [now, setNow] = useState(serviceNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceNow()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  const left = Date.parse(until) - now;
  if (left <= 0) return null;
  return (
    <Alert color="yellow" p="xs" role="status">
      <Text size="xs">
        {t('forms.webhookPrevious', { left: formatLongDuration(left, i18n.language) })} (<Moment at={until} />
        )
      </Text>
      <Hint ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {url}
      </Hint>
    </Alert>
  );
}

interface WorkflowParams {
  readonly params: { readonly org: number; readonly id: number };
}

export function CopyableText({ label, text }: { label: string; text: string }) {
  const { t } = useTranslation();
  return (
    <div>
      <Group justify="space-between">
        <Text size="xs" fw={600}>
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

/** Smaller clock differences are ignored. */
const EARLY_MS = 5_000;

/** Waits for the next call and stores it as the sample. */
export function Listener({
  params,
  isOpen,
  isSaved,
}: WorkflowParams & {
  isOpen: boolean;
  /** Whether the saved version has a webhook. */
  isSaved: boolean;
}) {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const showSample = useEditor((state) => state.showSample);
  const [after, setAfter] = useState<number | null>(null);
  const [until, setUntil] = useState<string | null>(null);
  const [arrived, setArrived] = useState<Sample | null>(null);
  const [refused, setRefused] = useState<RefusedCall | null>(null);
  const save = useContext(SaveFlow);
  const start = useChange(
    async () => {
      // Calls reach the saved version; a conflict is shown by the page.
      if (!isSaved && !((await save?.()) ?? false)) return null;
      return call('POST /orgs/:org/workflows/:id/sample-listener', { params });
    },
    {
      refreshes: ['GET /orgs/:org/workflows/:id/webhook'],
      onSuccess: (started) => {
        if (started === null) return;
        setArrived(null);
        setRefused(null);
        setUntil(started.until);
        setAfter(started.revision);
      },
    },
  );
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
        setRefused(null);
        setArrived(sample);
        showSample(sample.data);
        notifyDone(t('forms.sampleTaken'));
        void queryClient.invalidateQueries({
          queryKey: endpointKey('GET /orgs/:org/workflows/:id/inputs', { params }),
        });
      },
      listening: ({ until: end }) => setUntil(end),
      refused: setRefused,
      ended: () => {
        setAfter(null);
        if (stop.isPending) return;
        // Ended early: the user stopped it in another window.
        const isEarly = until !== null && Date.parse(until) - serviceNow() > EARLY_MS;
        notifyWarning(t(isEarly ? 'forms.stoppedElsewhere' : 'forms.noCallCame'));
      },
    },
    after !== null,
  );
  if (after === null) {
    return (
      <>
        <Button
          variant="light"
          w="fit-content"
          leftSection={<Radio size={14} />}
          loading={start.isPending}
          disabled={isSaved ? !isOpen : save === null}
          onClick={() => start.mutate()}
        >
          {t(isSaved ? 'forms.listen' : 'forms.saveAndListen')}
        </Button>
        {refused !== null && <Refused call={refused} />}
        {arrived !== null && <Arrived sample={arrived} />}
      </>
    );
  }
  return (
    <Alert color="teal" p="xs" role="status" title={t('forms.listening')}>
      <Stack gap="xs">
        <Text size="xs">
          {t('forms.listeningAbout')} {until !== null && <Moment at={until} />}
        </Text>
        {refused !== null && <Refused call={refused} />}
        <Button variant="default" w="fit-content" onClick={() => stop.mutate()}>
          {t('forms.stopListening')}
        </Button>
      </Stack>
    </Alert>
  );
}

type RefusedCall = Events<'GET /orgs/:org/workflows/:id/sample-listener/events'>['refused'];

/** The last call that wasn't accepted, and why. */
function Refused({ call: { at, status, ...said } }: { call: RefusedCall }) {
  const { t } = useTranslation();
  return (
    <Alert color="red" p="xs" role="alert" title={t('forms.refused', { status })}>
      <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
        {translateMessage(said)} <Moment at={at} />
      </Text>
    </Alert>
  );
}

/** The received call. */
function Arrived({ sample }: { sample: Sample }) {
  const { t } = useTranslation();
  return (
    <Stack gap={6} component="section" aria-label={t('forms.arrived')}>
      <Group gap={6}>
        <Text size="xs" fw={600}>
          {t('forms.arrived')}
        </Text>
        <Moment at={sample.received_at} />
        {sample.execution_id !== null && <ExecutionLink id={sample.execution_id} />}
      </Group>
      {sample.is_repeat && <Hint>{t('forms.repeated')}</Hint>}
      <JsonViewer
        value={sample.data as JsonValue}
        label={t('forms.arrived')}
        fileName="sample.json"
        pathPrefix="trigger.data"
      />
    </Stack>
  );
}

/** Creates a new URL; the previous one works for one more day. */
export function Regenerate({ params }: WorkflowParams) {
  const { t } = useTranslation();
  const [isAsking, setIsAsking] = useState(false);
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
      <ConfirmChange
        isOpen={isAsking}
        title={t('forms.regenerate')}
        action={t('forms.regenerateAction')}
        change={() => call('POST /orgs/:org/workflows/:id/webhook/regenerate', { params, body: {} })}
        done={t('forms.regenerated')}
        refreshes={[
          'GET /orgs/:org/workflows/:id/webhook',
          'GET /orgs/:org/workflows/:id/form',
          'GET /orgs/:org/workflows/:id/chat',
        ]}
        onClose={() => setIsAsking(false)}
      >
        {t('forms.regenerateAbout')}
      </ConfirmChange>
    </>
  );
}
