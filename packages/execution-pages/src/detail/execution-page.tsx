import '@millrace/ui/i18n/parts/editor.ts';
import '@millrace/ui/i18n/parts/executions.ts';
import { Skeleton, Stack, Text, Title } from '@mantine/core';
import type { ExecutionDetail } from '@millrace/admin-api';
import { FlowView } from '@millrace/editor/canvas/flow-view.tsx';
import type { NodeRun } from '@millrace/editor-model/editor-state.ts';
import type { Flow } from '@millrace/engine';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { useNoteRecent } from '@millrace/ui/commands/use-note-recent.ts';
import { JsonViewer } from '@millrace/ui/components/json-viewer.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { loadInReserve } from '@millrace/ui/components/load-in-reserve.ts';
import { Page } from '@millrace/ui/components/page.tsx';
import { EmptyState, ErrorState, LoadingRows } from '@millrace/ui/components/states.tsx';
import { Muted } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from '../common/executions.module.css';
import { type DetailSearch, readDetailSearch } from '../common/search.ts';
import { ExecutionMarks, ExecutionStatus } from '../common/status.tsx';
import { ToExecutions } from '../common/to-executions.tsx';
import { isUnderWay } from '../common/under-way.ts';
import { Files } from '../files/files.tsx';
import { Timeline } from '../timeline/timeline.tsx';
import { ExecutionActions } from './execution-actions.tsx';
import { ExecutionFacts } from './execution-facts.tsx';
import { useNodeNames } from './node-names.ts';
import { useExecution } from './use-execution.ts';

const loadNodePanel = () => import('./node-panel.tsx');
const NodePanel = lazyPart(
  async () => (await loadNodePanel()).NodePanel,
  () => <Skeleton h={220} />,
);
/** As high as a short one. */
const ErrorPanel = lazyPart(
  async () => (await import('./error-panel.tsx')).ErrorPanel,
  () => <Skeleton h={96} />,
);
const Decisions = lazyPart(async () => (await import('./decisions.tsx')).Decisions);
const Waits = lazyPart(async () => (await import('./waits.tsx')).Waits);

/** Must match the style sheet. */
const NARROW = '(max-width: 62em)';

/** One execution: what ran, when, with what result. */
export function ExecutionPage() {
  const { t } = useTranslation();
  const { execution } = useParams({ strict: false }) as { readonly execution?: string };
  const id = Number(execution);
  const detail = useExecution(id);
  if (detail.data !== undefined) return <Shown detail={detail.data} />;
  const isMissing = detail.error instanceof ApiProblem && detail.error.status === 404;
  return (
    <Page title={`#${execution}`} width={1600}>
      {detail.isPending && <LoadingRows />}
      {isMissing && <Missing />}
      {detail.isError && !isMissing && (
        <ErrorState error={detail.error} onRetry={() => void detail.refetch()} />
      )}
      {detail.isPending && <Text className="mantine-visually-hidden">{t('executions.detail.loading')}</Text>}
    </Page>
  );
}

function Missing() {
  const { t } = useTranslation();
  return (
    <EmptyState icon={SearchX} title={t('executions.detail.notFound')} action={<ToExecutions />}>
      {t('executions.detail.notFoundText')}
    </EmptyState>
  );
}

function Shown({ detail }: { detail: ExecutionDetail }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { execution } = detail;
  useNoteRecent('execution', execution.id, execution.display_name);
  const flow = useQuery({
    ...endpointQuery('GET /orgs/:org/executions/:execution/flow', {
      params: { org, execution: execution.id },
    }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const names = useNodeNames(flow.data?.flow_data);
  const { labels, parents } = names;
  // The failed node is selected initially.
  const { node, iteration, choose } = useChosenNode(execution.error?.node_id ?? null);
  const side = useScrolledTo(node);
  // Also afterwards: somebody may still be deciding.
  const [hasWaited, setHasWaited] = useState(false);
  if (isUnderWay(execution.status) && !hasWaited) setHasWaited(true);
  // Nodes are chosen next.
  useEffect(() => loadInReserve(loadNodePanel), []);
  return (
    <Page
      width={1600}
      title={execution.display_name}
      description={
        <Stack gap={4} align="flex-start" mt={4} style={{ flexDirection: 'row', flexWrap: 'wrap' }}>
          <ExecutionStatus status={execution.status} />
          <ExecutionMarks item={execution} />
        </Stack>
      }
      actions={
        <ExecutionActions
          detail={detail}
          currentVersion={flow.data?.current_version ?? null}
          labels={labels}
        />
      }
    >
      {execution.error !== undefined && (
        <ErrorPanel
          error={execution.error}
          labels={labels}
          {...(node === execution.error.node_id ? {} : { onShowNode: choose })}
        />
      )}
      {hasWaited && <Waits detail={detail} names={names} onChoose={choose} />}
      {detail.decisions.length > 0 && <Decisions detail={detail} names={names} onChoose={choose} />}
      <ExecutionFacts detail={detail} currentVersion={flow.data?.current_version ?? null} />
      <Graph
        detail={detail}
        flow={flow.data?.flow_data as Flow | undefined}
        isGone={flow.isError}
        node={node}
        onChoose={choose}
      />
      <div className={classes.panels}>
        <Timeline detail={detail} labels={labels} parents={parents} chosen={node} onChoose={choose} />
        <aside ref={side} className={classes.side} aria-label={node ?? t('executions.detail.input')}>
          {node === null ? (
            <ExecutionSide detail={detail} />
          ) : (
            <NodePanel
              key={node}
              detail={detail}
              nodeId={node}
              names={names}
              flow={flow.data?.flow_data as Flow | undefined}
              iteration={iteration}
              onChoose={choose}
            />
          )}
        </aside>
      </div>
    </Page>
  );
}

/** In a narrow window the output is below the graph: scroll there when a node is selected. */
function useScrolledTo(node: string | null) {
  const side = useRef<HTMLElement>(null);
  const former = useRef(node);
  useEffect(() => {
    const isOther = former.current !== node && node !== null;
    former.current = node;
    if (isOther && window.matchMedia(NARROW).matches) side.current?.scrollIntoView({ block: 'start' });
  }, [node]);
  return side;
}

/** The selected node is stored in the address; an empty name means none. */
function useChosenNode(first: string | null) {
  const { node = first ?? '', iteration = null } = readDetailSearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  const choose = (nodeId: string | null, place: string | null = null) => {
    const none: DetailSearch = first === null ? {} : { node: '' };
    const search = nodeId === null ? none : { node: nodeId, ...(place === null ? {} : { iteration: place }) };
    void navigate({ to: '.', search, replace: true, resetScroll: false });
  };
  return { node: node === '' ? null : node, iteration, choose };
}

function Graph({
  detail,
  flow,
  isGone,
  node,
  onChoose,
}: {
  detail: ExecutionDetail;
  flow: Flow | undefined;
  isGone: boolean;
  node: string | null;
  onChoose: (nodeId: string | null) => void;
}) {
  const { t } = useTranslation();
  const runs = useMemo(() => runsOf(detail), [detail]);
  if (isGone) {
    return <Muted>{t('executions.detail.flowGone')}</Muted>;
  }
  return (
    <section className={classes.graph} aria-label={t('executions.detail.graphLabel')}>
      {flow === undefined ? (
        <Skeleton h="100%" />
      ) : (
        <FlowView flow={flow} runs={runs} selectedId={node} onOpenNode={onChoose} />
      )}
    </section>
  );
}

function runsOf({ nodes }: ExecutionDetail): { readonly [nodeId: string]: NodeRun } {
  // Without a prototype, any node id is an ordinary member.
  const runs: { [nodeId: string]: NodeRun } = Object.create(null);
  for (const node of nodes) runs[node.node_id] = node;
  return runs;
}

/** The execution's input, while no node is selected. */
function ExecutionSide({ detail }: { detail: ExecutionDetail }) {
  const { t } = useTranslation();
  return (
    <Stack gap="xs">
      <Title order={2}>{t('executions.detail.input')}</Title>
      <JsonViewer
        value={detail.input_data}
        label={t('executions.detail.input')}
        fileName={`execution-${detail.execution.id}-input.json`}
        pathPrefix="trigger.data"
      />
      <Files value={detail.input_data} executionId={detail.execution.id} />
      <Muted>
        {detail.nodes.length === 0 ? t('executions.detail.noNodes') : t('executions.detail.pickNode')}
      </Muted>
    </Stack>
  );
}
