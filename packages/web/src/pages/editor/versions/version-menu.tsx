import {
  ActionIcon,
  Badge,
  Box,
  Button,
  Group,
  Modal,
  ScrollArea,
  Select,
  Stack,
  Text,
  Tooltip,
  UnstyledButton,
} from '@mantine/core';
import type { VersionItem } from '@millrace/admin-api';
import type { Flow } from '@millrace/engine';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { History, Pin, PinOff, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../../api/client.ts';
import { useRole } from '../../../api/me.ts';
import { usePages } from '../../../api/pages.ts';
import { endpointKey, endpointQuery } from '../../../api/query.ts';
import { useEditorStore } from '../../../canvas/store.ts';
import { ConfirmDialog } from '../../../ui/confirm.tsx';
import { MoreButton } from '../../../ui/more-button.tsx';
import { notifyDone, notifyFailure } from '../../../ui/notify.ts';
import { EmptyState, ErrorState, LoadingRows } from '../../../ui/states.tsx';
import { Moment } from '../../../ui/time.tsx';
import { useEditorPage } from '../editor-context.ts';
import { FlowDifferenceView } from './flow-difference.tsx';

const LIST = 'GET /orgs/:org/workflows/:id/versions';

/** The history of the workflow: who saved what and when, what is different, and back to it. */
export function VersionMenu() {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(false);
  const { workflow } = useEditorPage();
  return (
    <>
      <Tooltip label={t('editor.versions.title')}>
        <Button
          variant="subtle"
          color="gray"
          px={8}
          leftSection={<History size={16} />}
          onClick={() => setIsOpen(true)}
          aria-label={`v${workflow.version}: ${t('editor.versions.title')}`}
        >
          {`v${workflow.version}`}
        </Button>
      </Tooltip>
      <Modal
        closeButtonProps={{ 'aria-label': t('common.close') }}
        opened={isOpen}
        onClose={() => setIsOpen(false)}
        title={t('editor.versions.title')}
        size="90rem"
      >
        {isOpen && <Versions onDone={() => setIsOpen(false)} />}
      </Modal>
    </>
  );
}

function Versions({ onDone }: { readonly onDone: () => void }) {
  const { t } = useTranslation();
  const { org, workflow } = useEditorPage();
  const params = { org, id: workflow.id };
  const [chosen, setChosen] = useState<number | null>(null);
  const list = usePages(LIST, { params, query: { limit: 50 } });
  if (list.isPending) return <LoadingRows />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  const { items } = list;
  const shown = items.find(({ version }) => version === chosen) ?? items[0];
  return (
    <Group align="stretch" gap="md" wrap="wrap">
      <ScrollArea flex="1 1 260px" mah="72vh" type="auto">
        <Stack gap={2} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
          {items.map((item) => (
            <li key={item.version}>
              <VersionRow item={item} isShown={item === shown} onShow={() => setChosen(item.version)} />
            </li>
          ))}
        </Stack>
        <MoreButton list={list} />
      </ScrollArea>
      <Box flex="3 1 420px" miw={0}>
        {shown === undefined ? (
          <EmptyState icon={History} title={t('editor.versions.none')} />
        ) : (
          <VersionShown key={shown.version} item={shown} items={items} onDone={onDone} />
        )}
      </Box>
    </Group>
  );
}

function VersionRow({
  item,
  isShown,
  onShow,
}: {
  readonly item: VersionItem;
  readonly isShown: boolean;
  readonly onShow: () => void;
}) {
  const { t } = useTranslation();
  const { org, workflow } = useEditorPage();
  const { can } = useRole();
  const queryClient = useQueryClient();
  const params = { org, id: workflow.id };
  const pin = useMutation({
    mutationFn: () =>
      call('PUT /orgs/:org/workflows/:id/versions/:version/pin', {
        params: { ...params, version: item.version },
        body: { pinned: !item.pinned },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: endpointKey(LIST, { params }) }),
    onError: notifyFailure,
  });
  const pinLabel = t(item.pinned ? 'editor.versions.unpin' : 'editor.versions.pin', {
    version: item.version,
  });
  return (
    <Group wrap="nowrap" gap={4} className={`editor-version ${isShown ? 'is-shown' : ''}`}>
      <UnstyledButton flex={1} miw={0} p={6} onClick={onShow} aria-current={isShown}>
        <Group gap={6}>
          <Text size="sm" fw={600}>
            {t('editor.versions.version', { version: item.version })}
          </Text>
          {item.is_current && <Badge>{t('editor.versions.current')}</Badge>}
          {item.pinned && !can('editor') && <Pin size={12} aria-label={t('editor.versions.pinned')} />}
        </Group>
        {item.message !== null && (
          <Text size="sm" lineClamp={2} title={item.message}>
            {item.message}
          </Text>
        )}
        {item.restored_from !== null && (
          <Text size="xs" c="dimmed">
            {t('editor.versions.restoredFrom', { version: item.restored_from })}
          </Text>
        )}
        <Text size="xs" c="dimmed" component="div" truncate>
          {item.author === null
            ? t('editor.versions.somebody')
            : item.author.kind === 'api_key'
              ? t('editor.versions.byKey', { name: item.author.name })
              : item.author.name}
          {' · '}
          <Moment at={item.created_at} />
        </Text>
      </UnstyledButton>
      {can('editor') && (
        <Tooltip label={pinLabel}>
          <ActionIcon
            size="sm"
            aria-label={pinLabel}
            aria-pressed={item.pinned}
            color={item.pinned ? 'teal' : 'gray'}
            loading={pin.isPending}
            onClick={() => pin.mutate()}
          >
            {item.pinned ? <PinOff size={14} /> : <Pin size={14} />}
          </ActionIcon>
        </Tooltip>
      )}
    </Group>
  );
}

function VersionShown({
  item,
  items,
  onDone,
}: {
  readonly item: VersionItem;
  readonly items: readonly VersionItem[];
  readonly onDone: () => void;
}) {
  const { t } = useTranslation();
  const { org, workflow, keeper } = useEditorPage();
  const { can } = useRole();
  const store = useEditorStore();
  const queryClient = useQueryClient();
  const [against, setAgainst] = useState<string>('before');
  const [isAsking, setIsAsking] = useState(false);
  const params = { org, id: workflow.id };
  const former = items.find(({ version }) => version < item.version)?.version ?? null;
  const other = against === 'canvas' ? null : against === 'before' ? former : Number(against);
  const version = useVersion(item.version);
  const compared = useVersion(other);
  const restore = useMutation({
    mutationFn: () =>
      call('POST /orgs/:org/workflows/:id/versions/:version/restore', {
        params: { ...params, version: item.version },
        body: { base_version: keeper.state.getState().baseVersion, discards_draft: true },
      }),
    onSuccess: async (restored) => {
      store.getState().replaceFlow(restored.flow_data as unknown as Flow);
      store.getState().showProblems(restored.problems, restored.handles);
      keeper.adopt({ version: restored.version });
      queryClient.setQueryData(endpointKey('GET /orgs/:org/workflows/:id', { params }), restored);
      await queryClient.invalidateQueries({ queryKey: endpointKey(LIST, { params }) });
      notifyDone(t('editor.versions.restored', { version: item.version }));
      onDone();
    },
    onError: notifyFailure,
  });
  if (version.isError) return <ErrorState error={version.error} onRetry={() => void version.refetch()} />;
  if (version.data === undefined) return <LoadingRows rows={4} />;
  const flow = version.data.flow_data as unknown as Flow;
  const name = (number: number) => t('editor.versions.version', { version: number });
  const isOnCanvas = against === 'canvas';
  const comparedFlow = compared.data?.flow_data as Flow | undefined;
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-end">
        <Select
          label={t('editor.versions.compareWith')}
          value={against}
          onChange={(next) => setAgainst(next ?? 'before')}
          allowDeselect={false}
          data={[
            { value: 'before', label: t('editor.versions.before') },
            { value: 'canvas', label: t('editor.versions.canvas') },
            ...items
              .filter((each) => each.version !== item.version)
              .map((each) => ({ value: String(each.version), label: name(each.version) })),
          ]}
        />
        {can('editor') && !item.is_current && workflow.status !== 'archived' && (
          <Button
            variant="default"
            leftSection={<RotateCcw size={14} />}
            loading={restore.isPending}
            onClick={() => setIsAsking(true)}
          >
            {t('editor.versions.restore')}
          </Button>
        )}
      </Group>
      {isOnCanvas ? (
        <FlowDifferenceView
          before={flow}
          after={store.getState().toFlow()}
          labels={[name(item.version), t('editor.versions.canvas')]}
        />
      ) : other === null ? (
        <FlowDifferenceView
          before={{ nodes: [], edges: [] }}
          after={flow}
          labels={[t('editor.versions.nothing'), name(item.version)]}
        />
      ) : comparedFlow === undefined ? (
        <LoadingRows rows={4} />
      ) : (
        <FlowDifferenceView before={comparedFlow} after={flow} labels={[name(other), name(item.version)]} />
      )}
      <ConfirmDialog
        isOpen={isAsking}
        title={t('editor.versions.restoreTitle', { version: item.version })}
        action={t('editor.versions.restore')}
        onConfirm={() => {
          setIsAsking(false);
          restore.mutate();
        }}
        onClose={() => setIsAsking(false)}
      >
        {t('editor.versions.restoreText', { version: item.version })}
      </ConfirmDialog>
    </Stack>
  );
}

function useVersion(version: number | null) {
  const { org, workflow } = useEditorPage();
  return useQuery({
    ...endpointQuery('GET /orgs/:org/workflows/:id/versions/:version', {
      params: { org, id: workflow.id, version: version ?? 0 },
    }),
    enabled: version !== null,
    // Versions never change.
    staleTime: Number.POSITIVE_INFINITY,
  });
}
