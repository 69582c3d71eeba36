import '@millrace/ui/i18n/parts/connectors.ts';
import { Alert, Anchor, Button, FileButton, Group, Progress, Stack, Text } from '@mantine/core';
import type { OwnConnector, ResponseBody } from '@millrace/admin-api';
import { ApiProblem, addressOf, call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ConfirmChange } from '@millrace/ui/components/form-dialog.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { useQuery } from '@tanstack/react-query';
import { Download, FileUp, RefreshCw, Trash2 } from 'lucide-react';
import { type DragEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SectionFrame } from './section.tsx';

/** What a change of connectors changes elsewhere. */
const REFRESHES = [
  'GET /orgs/:org/connectors',
  'GET /orgs/:org/connector-types',
  'GET /orgs/:org/connector-types/outline',
] as const;

/** The organisation's own connectors: upload, list, update workflows, delete. */
export function ConnectorsSection() {
  const { t } = useTranslation();
  const org = useOrg();
  const connectors = useQuery(endpointQuery('GET /orgs/:org/connectors', { params: { org } }));
  return (
    <SectionFrame
      title={t('connectors.title')}
      about={t('connectors.about')}
      more={
        <Anchor href="/docs/guides/own-connectors" target="_blank" size="sm">
          {t('connectors.guide')}
        </Anchor>
      }
    >
      <Upload />
      <QueryState query={connectors} />
      {connectors.data?.items.map((item) => (
        <Item key={item.name} item={item} />
      ))}
    </SectionFrame>
  );
}

/** A file that was refused. */
interface Refused {
  readonly fileName: string;
  readonly problem: ApiProblem;
}

function Upload() {
  const { t } = useTranslation();
  const org = useOrg();
  const [refused, setRefused] = useState<Refused | null>(null);
  const upload = useChange(
    async (file: File) =>
      call('POST /orgs/:org/connectors', { params: { org }, body: { file: await file.text() } }),
    {
      done: ({ name, revision, is_new: isNew }) =>
        isNew ? t('connectors.uploaded', { name, revision }) : t('connectors.same', { name, revision }),
      refreshes: REFRESHES,
      onError: (error, file) => {
        if (error instanceof ApiProblem && error.errors.length > 0)
          setRefused({ fileName: file.name, problem: error });
        else notifyFailure(error);
      },
    },
  );
  const take = (file: File | null | undefined) => {
    if (file === null || file === undefined) return;
    setRefused(null);
    upload.mutate(file);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  };
  return (
    <Stack gap="xs" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <Group gap="xs">
        <FileButton accept="application/json,.json" onChange={take}>
          {(props) => (
            <Button
              {...props}
              variant="default"
              leftSection={<FileUp size={14} />}
              loading={upload.isPending}
            >
              {t('connectors.upload')}
            </Button>
          )}
        </FileButton>
        <Hint>{t('connectors.drop')}</Hint>
      </Group>
      {refused !== null && (
        <Alert
          color="red"
          title={t('connectors.faults', { file: refused.fileName, interpolation: { escapeValue: false } })}
        >
          <Stack gap={4} component="ul" m={0} pl="md">
            {refused.problem.errors.map(({ pointer, message }) => (
              <Text key={`${pointer} ${message}`} component="li" size="sm">
                {pointer !== '' && <code>{pointer}</code>} {message}
              </Text>
            ))}
          </Stack>
        </Alert>
      )}
    </Stack>
  );
}

/** Workflows that stay, at most as many as are looked through. */
const MAX_SHOWN = 100;

type Renewed = ResponseBody<'POST /orgs/:org/connectors/:connector/workflows'>;

/** Updating workflows, step by step to the last one. Leaving the page ends it after the step under way. */
function useRenewal({ name, outdated }: OwnConnector) {
  const { t } = useTranslation();
  const org = useOrg();
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const [{ seen, total, refused }, setState] = useState<{
    seen: number;
    total: number;
    refused: Renewed['refused'];
  }>({ seen: 0, total: 0, refused: [] });
  const renew = useChange(
    async () => {
      const left: Renewed['refused'] = [];
      let saved = 0;
      setState({ seen: 0, total: outdated, refused: [] });
      for (let after: number | null = 0; after !== null && !isGone.current; ) {
        const step: Renewed = await call('POST /orgs/:org/connectors/:connector/workflows', {
          params: { org, connector: name },
          body: { after },
        });
        saved += step.saved;
        left.push(...step.refused);
        after = step.next;
        // Another person may have added some meanwhile.
        const done = saved + left.length;
        setState({ seen: done, total: Math.max(outdated, done), refused: [...left] });
      }
      return saved;
    },
    { done: (saved) => t('connectors.renewed', { count: saved }), refreshes: REFRESHES },
  );
  return { renew, seen, total, refused };
}

function Item({ item }: { item: OwnConnector }) {
  const { t } = useTranslation();
  const org = useOrg();
  const params = { org, connector: item.name };
  const [isDeleting, setIsDeleting] = useState(false);
  const { renew, seen, total, refused } = useRenewal(item);
  const counts = [
    t('connectors.operations', { count: item.operations }),
    ...(item.triggers === 0 ? [] : [t('connectors.triggers', { count: item.triggers })]),
    t('connectors.workflows', { count: item.workflows }),
  ];
  return (
    <Stack gap={4} role="group" aria-label={item.title}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Stack gap={0} miw={0}>
          <Text size="sm" fw={500} truncate>
            {item.title}
          </Text>
          <Hint>
            <code>{item.name}</code> {t('connectors.revision', { revision: item.revision })}{' '}
            <Moment at={item.uploaded_at} />
          </Hint>
          <Hint>{counts.join(' · ')}</Hint>
        </Stack>
        <Group gap={4} wrap="nowrap">
          <Anchor
            href={addressOf('GET /orgs/:org/connectors/:connector/file', { params })}
            aria-label={t('connectors.download', { name: item.title })}
          >
            <Download size={16} aria-hidden />
          </Anchor>
          <IconButton
            icon={Trash2}
            variant="subtle"
            label={t('connectors.delete', { name: item.title })}
            onClick={() => setIsDeleting(true)}
          />
        </Group>
      </Group>
      {item.outdated > 0 && (
        <Group gap="xs">
          <Hint>{t('connectors.outdated', { count: item.outdated })}</Hint>
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<RefreshCw size={12} />}
            loading={renew.isPending}
            onClick={() => renew.mutate()}
          >
            {t('connectors.renew')}
          </Button>
        </Group>
      )}
      {renew.isPending && total > 0 && (
        <>
          <Progress
            size="sm"
            value={(seen / total) * 100}
            aria-label={t('connectors.renewing', { seen, total })}
          />
          <Hint role="status">{t('connectors.renewing', { seen, total })}</Hint>
        </>
      )}
      {refused.slice(0, MAX_SHOWN).map((each) => (
        <Text key={each.id} size="xs" c="var(--mantine-color-error)">
          {each.name}: {translateMessage(each)}
        </Text>
      ))}
      {refused.length > MAX_SHOWN && (
        <Hint>{t('connectors.moreRefused', { count: refused.length - MAX_SHOWN })}</Hint>
      )}
      {isDeleting && (
        <ConfirmChange
          title={t('connectors.deleteTitle', { name: item.title, interpolation: { escapeValue: false } })}
          action={t('connectors.deleteAction')}
          change={() => call('DELETE /orgs/:org/connectors/:connector', { params })}
          refreshes={REFRESHES}
          onClose={() => setIsDeleting(false)}
        >
          {t('connectors.deleteHint')}
        </ConfirmChange>
      )}
    </Stack>
  );
}
