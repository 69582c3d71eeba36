import '@millrace/ui/i18n/parts/executions.ts';
import { Alert, Anchor, Button, Group, SegmentedControl, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { ExecutionDetail, NodeRunDetail, NodeSummary } from '@millrace/admin-api';
import type { Flow } from '@millrace/engine';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { IconBadge } from '@millrace/ui/components/icon-badge.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { formatDuration, Moment } from '@millrace/ui/components/time.tsx';
import { WhenInSight } from '@millrace/ui/components/when-in-sight.tsx';
import { useQuery } from '@tanstack/react-query';
import { FileInput, FlaskConical, History } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from '../common/executions.module.css';
import { NodeStatus } from '../common/status.tsx';
import { isUnderWay } from '../common/under-way.ts';
import { configOf } from './config-of.ts';
import { ErrorPanel } from './error-panel.tsx';
import { Fact } from './execution-facts.tsx';
import { Iterations } from './iterations.tsx';
import type { NodeNames } from './node-names.ts';
import { NodeOutput } from './node-output.tsx';
import { nodeRunQuery } from './use-execution.ts';

const loadNodeInput = () => import('./node-input.tsx');
const NodeInput = lazyPart(
  async () => (await loadNodeInput()).NodeInput,
  () => <Skeleton h={120} />,
);

/** Larger outputs are loaded on request. */
const LARGE_OUTPUT = 4_000_000;

/** One node's result: status, output, log, and its runs if it is in a loop. */
export function NodePanel({
  detail,
  nodeId,
  names: { labels, parents, before },
  flow,
  iteration,
  onChoose,
}: {
  detail: ExecutionDetail;
  nodeId: string;
  names: NodeNames;
  /** Undefined while it is missing. */
  flow: Flow | undefined;
  iteration: string | null;
  onChoose: (nodeId: string | null, place?: string | null) => void;
}) {
  const { t } = useTranslation();
  const label = labels.get(nodeId) ?? nodeId;
  const parent = parents.get(nodeId) ?? null;
  const summary = detail.nodes.find((node) => node.node_id === nodeId);
  const isForgotten =
    summary?.iterations === undefined &&
    detail.nodes.some(({ node_id: id, iterations = 0 }) => parents.get(id) === nodeId && iterations > 0);
  // For a nested loop, only the last run's count is known.
  const isNested = parent !== null && parents.has(parent);
  const mayCount = !isNested && !isUnderWay(detail.execution.status);
  return (
    <Stack gap="sm">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div style={{ minWidth: 0 }}>
          <Title order={2} style={{ overflowWrap: 'anywhere' }}>
            {label}
          </Title>
          {label !== nodeId && <Hint ff="monospace">{nodeId}</Hint>}
        </div>
        <Button
          variant="subtle"
          color="gray"
          leftSection={<FileInput size={14} aria-hidden />}
          onClick={() => onChoose(null)}
          style={{ flexShrink: 0 }}
        >
          {t('executions.detail.showInput')}
        </Button>
      </Group>
      <Before ids={before.get(nodeId) ?? []} labels={labels} onChoose={onChoose} />
      {summary === undefined ? (
        <Muted>{t('executions.detail.nodeNotRun')}</Muted>
      ) : (
        <>
          {isForgotten && <Hint>{t('executions.iterations.loopNotKept')}</Hint>}
          {summary.iterations !== undefined && (
            <Iterations
              executionId={detail.execution.id}
              nodeId={nodeId}
              chosen={iteration}
              count={mayCount ? summary.iterations : null}
              loop={parent === null ? null : { id: parent, label: labels.get(parent) ?? parent }}
              onChoose={(place) => onChoose(nodeId, place)}
              onShowLoop={onChoose}
            />
          )}
          <Run
            detail={detail}
            summary={summary}
            iteration={summary.iterations === undefined ? null : iteration}
            flow={flow}
            labels={labels}
          />
        </>
      )}
    </Stack>
  );
}

/** The nodes whose outputs are its input. */
function Before({
  ids,
  labels,
  onChoose,
}: {
  ids: readonly string[];
  labels: ReadonlyMap<string, string>;
  onChoose: (nodeId: string) => void;
}) {
  const { t } = useTranslation();
  if (ids.length === 0) return null;
  return (
    <Hint component="div">
      {t('executions.node.after')}{' '}
      {ids.map((id, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <Anchor component="button" type="button" size="xs" onClick={() => onChoose(id)}>
            {labels.get(id) ?? id}
          </Anchor>
        </span>
      ))}
    </Hint>
  );
}

function Run({
  detail,
  summary,
  iteration,
  flow,
  labels,
}: {
  detail: ExecutionDetail;
  summary: NodeSummary;
  iteration: string | null;
  flow: Flow | undefined;
  labels: ReadonlyMap<string, string>;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const { id } = detail.execution;
  const { node_id: node, output_size: size } = summary;
  // A failed node usually has no output: show its input.
  const [view, setView] = useState(summary.status === 'failed' ? 'input' : 'output');
  const [wantsLarge, setWantsLarge] = useState(false);
  const isHeldBack = iteration === null && size > LARGE_OUTPUT && !wantsLarge;
  const query = iteration === null ? {} : { iteration };
  const run = useQuery({
    ...nodeRunQuery({ org, execution: id, node }, query),
    enabled: !isHeldBack,
  });
  const shown = run.data ?? summary;
  const isKept = !isMissing(run.error);
  const hasInput = isKept && shown.status !== 'skipped' && configOf(flow, node) !== null;
  return (
    <Stack gap="sm">
      <RunFacts run={shown} summary={summary} />
      {shown.error !== undefined && !isShownAbove(detail, node, shown.error) && (
        <ErrorPanel error={shown.error} isBrief={detail.execution.error?.node_id === node} />
      )}
      {hasInput && (
        <SegmentedControl
          size="xs"
          style={{ alignSelf: 'flex-start' }}
          aria-label={t('executions.node.show')}
          value={view}
          onChange={setView}
          data={[
            { value: 'input', label: t('executions.node.input') },
            { value: 'output', label: t('executions.node.output') },
          ]}
        />
      )}
      {hasInput && flow !== undefined && run.data !== undefined && view === 'input' && (
        <WhenInSight height={120} load={loadNodeInput}>
          <NodeInput detail={detail} flow={flow} run={run.data} labels={labels} />
        </WhenInSight>
      )}
      {isHeldBack && (
        <Alert color="gray" variant="light">
          <Group justify="space-between">
            <Text size="sm">{t('executions.node.largeOutput', { size: formatSize(size) })}</Text>
            <Button variant="default" onClick={() => setWantsLarge(true)}>
              {t('executions.node.loadOutput')}
            </Button>
          </Group>
        </Alert>
      )}
      {run.isLoading && <Skeleton h={160} />}
      {!isKept && <Text size="sm">{t('executions.iterations.oneNotKept')}</Text>}
      {run.isError && isKept && <ErrorState error={run.error} onRetry={() => void run.refetch()} />}
      {run.data !== undefined && (!hasInput || view === 'output') && (
        <NodeOutput run={run.data} executionId={id} />
      )}
    </Stack>
  );
}

/** For nodes without side effects, not every run in a loop is stored. */
function isMissing(error: Error | null): boolean {
  return error instanceof ApiProblem && error.status === 404;
}

/** The execution's error is already shown at the top. */
function isShownAbove(
  { execution }: ExecutionDetail,
  nodeId: string,
  error: { readonly message: string },
): boolean {
  return execution.error?.node_id === nodeId && execution.error.message === error.message;
}

function RunFacts({ run, summary }: { run: NodeSummary | NodeRunDetail; summary: NodeSummary }) {
  const { t } = useTranslation();
  const { started_at: started, duration_ms: duration, waiting } = run;
  return (
    <Stack gap="xs">
      <Group gap={6}>
        <NodeStatus status={run.status} />
        {summary.is_dry_run && (
          <IconBadge icon={FlaskConical} color="grape" hint={t('executions.node.dryRunHint')}>
            {t('executions.testMode')}
          </IconBadge>
        )}
        {summary.is_taken_over && (
          <IconBadge icon={History} color="gray" variant="outline" hint={t('executions.node.takenOverHint')}>
            {t('executions.node.takenOver')}
          </IconBadge>
        )}
      </Group>
      <dl className={classes.facts}>
        {started !== null && (
          <Fact name={t('executions.node.started')}>
            <Moment at={started} relative={false} />
          </Fact>
        )}
        {duration !== null && <Fact name={t('executions.node.duration')}>{formatDuration(duration)}</Fact>}
        {run.attempts > 1 && <Fact name={t('executions.node.attempts')}>{run.attempts}</Fact>}
        {run.consumed_ai_tokens > 0 && (
          <Fact name={t('executions.node.tokens')}>{run.consumed_ai_tokens.toLocaleString()}</Fact>
        )}
        {waiting !== undefined && (
          <Fact name={t('executions.node.waitsFor')}>
            <WaitName reason={waiting.for} host={waiting.host} />
            {waiting.until !== null && (
              <>
                {waiting.for === 'signal' ? ` ${t('executions.node.until')}` : ' ·'}{' '}
                <Moment at={waiting.until} relative={false} />
              </>
            )}
          </Fact>
        )}
      </dl>
    </Stack>
  );
}

function WaitName({ reason, host }: { reason: string; host: string | undefined }) {
  const { t } = useTranslation();
  if (host !== undefined) return t('executions.node.waitForHost', { host });
  const known = (['delay', 'retry', 'signal'] as const).find((each) => each === reason);
  return known === undefined ? reason : t(`executions.node.wait.${known}`);
}

function formatSize(characters: number): string {
  return `${(characters / 1_000_000).toFixed(1)} MB`;
}
