import { Alert, Badge, Button, Group, Skeleton, Stack, Text, Title, Tooltip } from '@mantine/core';
import type { ExecutionDetail, NodeRunDetail, NodeSummary } from '@millrace/admin-api';
import { isJsonObject, type JsonValue } from '@millrace/engine';
import { useQuery } from '@tanstack/react-query';
import { FlaskConical, History, X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useOrg } from '../../api/me.ts';
import { JsonViewer } from '../../ui/json-viewer.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { formatDuration, Moment } from '../../ui/time.tsx';
import { ErrorPanel } from './error-panel.tsx';
import { readExactly } from './exact.ts';
import { Fact } from './execution-facts.tsx';
import classes from './executions.module.css';
import { Iterations } from './iterations.tsx';
import { NodeStatus } from './status.tsx';

const NODE = 'GET /orgs/:org/executions/:execution/nodes/:node';
/** An output beyond this is read when somebody asks for it. */
const LARGE_OUTPUT = 4_000_000;

/** What became of one node: its state, its output, its log, and its runs when it is in a loop. */
export function NodePanel({
  detail,
  nodeId,
  labels,
  parent,
  iteration,
  onChoose,
}: {
  readonly detail: ExecutionDetail;
  readonly nodeId: string;
  readonly labels: ReadonlyMap<string, string>;
  /** The loop it is inside of; null at top level. */
  readonly parent: string | null;
  readonly iteration: string | null;
  readonly onChoose: (nodeId: string | null, place?: string | null) => void;
}) {
  const { t } = useTranslation();
  const label = labels.get(nodeId) ?? nodeId;
  const summary = detail.nodes.find((node) => node.node_id === nodeId);
  return (
    <Stack gap="sm">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div style={{ minWidth: 0 }}>
          <Title order={2} style={{ overflowWrap: 'anywhere' }}>
            {label}
          </Title>
          {label !== nodeId && (
            <Text size="xs" c="dimmed" ff="monospace">
              {nodeId}
            </Text>
          )}
        </div>
        <Button
          variant="subtle"
          color="gray"
          leftSection={<X size={14} aria-hidden />}
          onClick={() => onChoose(null)}
          style={{ flexShrink: 0 }}
        >
          {t('common.close')}
        </Button>
      </Group>
      {summary === undefined ? (
        <Text size="sm" c="dimmed">
          {t('executions.detail.nodeNotRun')}
        </Text>
      ) : (
        <>
          {summary.iterations !== undefined && (
            <Iterations
              executionId={detail.execution.id}
              nodeId={nodeId}
              chosen={iteration}
              loop={parent === null ? null : { id: parent, label: labels.get(parent) ?? parent }}
              onChoose={(place) => onChoose(nodeId, place)}
              onShowLoop={onChoose}
            />
          )}
          <Run detail={detail} summary={summary} iteration={iteration} />
        </>
      )}
    </Stack>
  );
}

function Run({
  detail,
  summary,
  iteration,
}: {
  readonly detail: ExecutionDetail;
  readonly summary: NodeSummary;
  readonly iteration: string | null;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const { id } = detail.execution;
  const { node_id: node, output_size: size } = summary;
  const [wantsLarge, setWantsLarge] = useState(false);
  const isHeldBack = iteration === null && size > LARGE_OUTPUT && !wantsLarge;
  const query = iteration === null ? {} : { iteration };
  const run = useQuery({
    queryKey: [NODE, { org, execution: id, node }, query],
    queryFn: ({ signal }): Promise<NodeRunDetail> =>
      readExactly(NODE, { params: { org, execution: id, node }, query, signal }),
    structuralSharing: false,
    enabled: !isHeldBack,
  });
  const shown = run.data ?? summary;
  return (
    <Stack gap="sm">
      <RunFacts run={shown} summary={summary} />
      {shown.error !== undefined && (
        <ErrorPanel error={shown.error} isBrief={detail.execution.error?.node_id === node} />
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
      {run.isError && <ErrorState error={run.error} onRetry={() => void run.refetch()} />}
      {run.data !== undefined && run.data.status !== 'skipped' && <Output run={run.data} executionId={id} />}
    </Stack>
  );
}

function RunFacts({
  run,
  summary,
}: {
  readonly run: NodeSummary | NodeRunDetail;
  readonly summary: NodeSummary;
}) {
  const { t } = useTranslation();
  const { started_at: started, duration_ms: duration, waiting } = run;
  return (
    <Stack gap="xs">
      <Group gap={6}>
        <NodeStatus status={run.status} />
        {summary.is_dry_run && (
          <Tooltip label={t('executions.node.dryRunHint')}>
            <Badge color="grape" leftSection={<FlaskConical size={10} aria-hidden />}>
              {t('executions.testMode')}
            </Badge>
          </Tooltip>
        )}
        {summary.is_taken_over && (
          <Tooltip label={t('executions.node.takenOverHint')} multiline maw={260}>
            <Badge color="gray" variant="outline" leftSection={<History size={10} aria-hidden />}>
              {t('executions.node.takenOver')}
            </Badge>
          </Tooltip>
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
            <WaitName reason={waiting.for} />
            {waiting.until !== null && (
              <>
                {' '}
                {t('executions.node.until')} <Moment at={waiting.until} relative={false} />
              </>
            )}
          </Fact>
        )}
      </dl>
    </Stack>
  );
}

function WaitName({ reason }: { readonly reason: string }) {
  const { t } = useTranslation();
  const known = (['delay', 'retry', 'signal'] as const).find((each) => each === reason);
  return known === undefined ? reason : t(`executions.node.wait.${known}`);
}

function Output({ run, executionId }: { readonly run: NodeRunDetail; readonly executionId: number }) {
  const { t } = useTranslation();
  const { output, node_id: nodeId, log } = run;
  const request = dryRequest(output);
  const name = `execution-${executionId}-${nodeId}`;
  return (
    <Stack gap="xs">
      {request !== null && (
        <>
          <Title order={3} size="sm">
            {t('executions.node.dryRun')}
          </Title>
          <Text size="xs" c="dimmed">
            {t('executions.node.dryRunHint')}
          </Text>
          <JsonViewer
            value={request}
            label={t('executions.node.dryRun')}
            fileName={`${name}-request.json`}
            maxHeight={260}
          />
        </>
      )}
      <Title order={3} size="sm">
        {t('executions.node.output')}
      </Title>
      <JsonViewer
        value={output}
        label={t('executions.node.output')}
        fileName={`${name}.json`}
        pathPrefix={`nodes.${nodeId}.output`}
      />
      {log.length > 0 && (
        <>
          <Title order={3} size="sm">
            {t('executions.node.log')}
          </Title>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <ol className={classes.log} style={{ listStyle: 'none', padding: 0 }} tabIndex={0}>
            {log.map(({ level, text }, index) => (
              <li key={index} data-level={level}>
                <span>{level}</span>
                <span>{text}</span>
              </li>
            ))}
          </ol>
        </>
      )}
    </Stack>
  );
}

function dryRequest(output: JsonValue): JsonValue | null {
  return isJsonObject(output) && output.dry_run === true ? (output.request ?? null) : null;
}

function formatSize(characters: number): string {
  return `${(characters / 1_000_000).toFixed(1)} MB`;
}
