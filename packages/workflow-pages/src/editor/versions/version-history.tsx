import '@millrace/ui/i18n/parts/editor.ts';
import { Box, Button, Group, Stack } from '@mantine/core';
import type { VersionItem, WorkflowDetail } from '@millrace/admin-api';
import { useEditorStore } from '@millrace/editor-model/store.ts';
import type { Flow } from '@millrace/engine';
import { usePages } from '@millrace/ui/api/pages.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { MoreButton } from '@millrace/ui/components/paged-list.tsx';
import { SelectLater } from '@millrace/ui/components/select-later.tsx';
import { EmptyState, ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Eye, History } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from '../editor-context.ts';
import { FlowDifferenceView } from './flow-difference.tsx';
import { RestoreButton } from './restore-button.tsx';
import { VersionList } from './version-list.tsx';

const LIST = 'GET /orgs/:org/workflows/:id/versions';

/** Who saved what and when, what changed, and restoring. */
export function VersionHistory({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const { org, workflow } = useEditorPage();
  const params = { org, id: workflow.id };
  const [chosen, setChosen] = useState<number | null>(null);
  const list = usePages(LIST, { params, query: { limit: 50 } });
  const pinned = useQuery(endpointQuery(LIST, { params, query: { limit: 100, pinned: true } }));
  if (list.isPending) return <LoadingRows />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  const { items } = list;
  const marked = pinned.data?.items ?? [];
  const shown = [...items, ...marked].find(({ version }) => version === chosen) ?? items[0];
  return (
    <Group align="stretch" gap="md" wrap="wrap">
      <VersionList pinned={marked} items={items} shown={shown?.version ?? null} onShow={setChosen}>
        <MoreButton list={list} />
      </VersionList>
      <Box flex="8 1 420px" miw={0}>
        {shown === undefined ? (
          <EmptyState icon={History} title={t('versions.none')} />
        ) : (
          <VersionShown key={shown.version} item={shown} items={items} onDone={onDone} />
        )}
      </Box>
    </Group>
  );
}

function VersionShown({
  item,
  items,
  onDone,
}: {
  item: VersionItem;
  items: readonly VersionItem[];
  onDone: () => void;
}) {
  const { t } = useTranslation();
  const { org, workflow, draftSync } = useEditorPage();
  const store = useEditorStore();
  const [against, setAgainst] = useState<string>('before');
  const former = item.version === 1 ? null : item.version - 1;
  const other = against === 'canvas' ? null : against === 'before' ? former : Number(against);
  const version = useVersion(item.version);
  const compared = useVersion(other);
  const showRestored = (restored: WorkflowDetail) => {
    store.getState().replaceFlow(restored.flow_data);
    store.getState().showProblems(restored.problems, restored.handles);
    draftSync.adopt({ version: restored.version });
    onDone();
  };
  if (version.isError) return <ErrorState error={version.error} onRetry={() => void version.refetch()} />;
  if (version.data === undefined) return <LoadingRows rows={4} />;
  const flow = version.data.flow_data;
  const name = (number: number) => t('versions.version', { version: number });
  const isOnCanvas = against === 'canvas';
  const comparedFlow = compared.data?.flow_data as Flow | undefined;
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-end">
        <SelectLater
          label={t('versions.compareWith')}
          value={against}
          onChange={(next) => setAgainst(next ?? 'before')}
          allowDeselect={false}
          searchable
          data={[
            { value: 'before', label: t('versions.before') },
            { value: 'canvas', label: t('versions.canvas') },
            ...items
              .filter((each) => each.version !== item.version)
              .map((each) => ({ value: String(each.version), label: name(each.version) })),
          ]}
        />
        <Group gap="xs">
          {!item.is_current && (
            <Button
              variant="default"
              leftSection={<Eye size={14} />}
              renderRoot={(props) => (
                <Link
                  {...props}
                  to="/o/$org/workflows/$id"
                  params={{ org: String(org), id: String(workflow.id) }}
                  search={{ version: item.version }}
                />
              )}
            >
              {t('versions.open', { version: item.version })}
            </Button>
          )}
          {!item.is_current && (
            <RestoreButton
              org={org}
              workflow={workflow}
              version={item.version}
              baseVersion={() => draftSync.state.getState().baseVersion}
              onRestored={showRestored}
            />
          )}
        </Group>
      </Group>
      {isOnCanvas ? (
        <FlowDifferenceView
          before={flow}
          after={store.getState().toFlow()}
          labels={[name(item.version), t('versions.canvas')]}
        />
      ) : other === null ? (
        <FlowDifferenceView
          before={{ nodes: [], edges: [] }}
          after={flow}
          labels={[t('versions.nothing'), name(item.version)]}
        />
      ) : comparedFlow === undefined ? (
        <LoadingRows rows={4} />
      ) : (
        <FlowDifferenceView before={comparedFlow} after={flow} labels={[name(other), name(item.version)]} />
      )}
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
