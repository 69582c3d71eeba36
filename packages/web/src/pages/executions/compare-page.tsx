import { ActionIcon, Alert, Button, Group, Stack, Switch, Table, Text, Tooltip } from '@mantine/core';
import type { Answer, ExecutionItem, NodeComparison } from '@millrace/admin-api';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowLeftRight, Columns2, Equal, EqualNot } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useOrg } from '../../api/me.ts';
import { endpointQuery } from '../../api/query.ts';
import { explain } from '../../i18n/service/index.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorState, LoadingRows } from '../../ui/states.tsx';
import { formatDuration, Moment } from '../../ui/time.tsx';
import { PickOther } from './compare-pick.tsx';
import { ExecutionLink } from './execution-facts.tsx';
import classes from './executions.module.css';
import { useNodeNames } from './node-names.ts';
import { readCompareSearch } from './search.ts';
import { ExecutionMarks, ExecutionStatus, NodeStatus } from './status.tsx';

const OutputDiff = lazy(async () => ({ default: (await import('./output-diff.tsx')).OutputDiff }));
const InputDiff = lazy(async () => ({ default: (await import('./output-diff.tsx')).InputDiff }));
const COMPARE = 'GET /orgs/:org/executions/compare';

/** Two executions node by node. */
export function ComparePage() {
  const { t } = useTranslation();
  const given = useSearch({ strict: false }) as { readonly [name: string]: unknown };
  const { a, b } = readCompareSearch(given);
  return (
    <Page title={t('executions.compare.title')} width={1400}>
      {a === undefined && (
        <EmptyState icon={Columns2} title={t('executions.compare.title')}>
          {t('executions.compare.missing')}
        </EmptyState>
      )}
      {a !== undefined && b === undefined && <PickOther a={a} />}
      {a !== undefined && b !== undefined && <Comparison a={a} b={b} />}
    </Page>
  );
}

function Comparison({ a, b }: { readonly a: number; readonly b: number }) {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const compared = useQuery(endpointQuery(COMPARE, { params: { org }, query: { a, b } }));
  if (compared.isPending) return <LoadingRows />;
  if (compared.isError) return <ErrorState error={compared.error} onRetry={() => void compared.refetch()} />;
  return (
    <Stack gap="md">
      <Group align="stretch" gap="sm">
        <Side name={t('executions.compare.a')} item={compared.data.a} />
        <Tooltip label={t('executions.compare.swap')}>
          <ActionIcon
            aria-label={t('executions.compare.swap')}
            my="auto"
            onClick={() => void navigate({ to: '.', search: { a: b, b: a }, replace: true })}
          >
            <ArrowLeftRight size={16} />
          </ActionIcon>
        </Tooltip>
        <Side name={t('executions.compare.b')} item={compared.data.b} />
      </Group>
      <Notes {...compared.data} />
      <Nodes {...compared.data} />
    </Stack>
  );
}

function Side({ name, item }: { readonly name: string; readonly item: ExecutionItem }) {
  return (
    <Stack
      gap={4}
      flex="1 1 260px"
      miw={0}
      pl="sm"
      style={{ borderInlineStart: '3px solid var(--mantine-color-default-border)' }}
    >
      <Group gap="xs">
        <Text fw={600}>{name}</Text>
        <ExecutionLink id={item.id}>{item.display_name}</ExecutionLink>
      </Group>
      <Group gap="xs">
        <ExecutionStatus status={item.status} />
        <ExecutionMarks item={item} />
        <Text size="xs" c="dimmed" component="span">
          <Moment at={item.created_at} /> · v{item.workflow_version} ·{' '}
          {item.duration_ms === null ? '–' : formatDuration(item.duration_ms)}
        </Text>
      </Group>
    </Stack>
  );
}

function Notes({ a, b }: Answer<typeof COMPARE>) {
  const { t } = useTranslation();
  if (a.workflow_id !== b.workflow_id)
    return <Alert color="yellow">{t('executions.compare.otherWorkflow')}</Alert>;
  if (a.workflow_version === b.workflow_version) return null;
  return (
    <Alert color="gray">
      {t('executions.compare.otherVersion', { a: a.workflow_version, b: b.workflow_version })}
    </Alert>
  );
}

function Nodes({ a, b, nodes, is_same_input: isSameInput }: Answer<typeof COMPARE>) {
  const { t } = useTranslation();
  const names = useNames(a.id, b.id);
  const [isOnlyDifferent, setIsOnlyDifferent] = useState(false);
  const shown = nodes.filter((node) => !isOnlyDifferent || differs(node));
  return (
    <>
      <Switch
        size="xs"
        label={t('executions.compare.onlyDifferent')}
        checked={isOnlyDifferent}
        onChange={({ currentTarget }) => setIsOnlyDifferent(currentTarget.checked)}
      />
      {isSameInput && !nodes.some(differs) && <Text size="sm">{t('executions.compare.allSame')}</Text>}
      <Table.ScrollContainer minWidth={720}>
        <Table verticalSpacing={4} aria-label={t('executions.compare.title')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('executions.compare.node')}</Table.Th>
              <Table.Th>{`${t('executions.compare.status')} ${t('executions.compare.a')}`}</Table.Th>
              <Table.Th>{`${t('executions.compare.status')} ${t('executions.compare.b')}`}</Table.Th>
              <Table.Th ta="right">{t('executions.compare.duration')}</Table.Th>
              <Table.Th ta="right">{t('executions.compare.tokens')}</Table.Th>
              <Table.Th>{t('executions.compare.output')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {(!isOnlyDifferent || !isSameInput) && <InputRow a={a.id} b={b.id} isSame={isSameInput} />}
            {shown.map((node) => (
              <NodeRow
                key={node.node_id}
                node={node}
                name={names.get(node.node_id) ?? node.node_id}
                a={a.id}
                b={b.id}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}

function differs({ a, b, is_same_output: isSame }: NodeComparison): boolean {
  return !isSame || a?.status !== b?.status;
}

/** What nodes are called, in the first version where it has the node. */
function useNames(a: number, b: number): ReadonlyMap<string, string> {
  const org = useOrg();
  const [ofA, ofB] = useQueries({
    queries: [a, b].map((execution) => ({
      ...endpointQuery('GET /orgs/:org/executions/:execution/flow', { params: { org, execution } }),
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  const namesOfA = useNodeNames(ofA?.data?.flow_data).labels;
  const namesOfB = useNodeNames(ofB?.data?.flow_data).labels;
  return useMemo(() => new Map([...namesOfB, ...namesOfA]), [namesOfA, namesOfB]);
}

function InputRow({ a, b, isSame }: { readonly a: number; readonly b: number; readonly isSame: boolean }) {
  const { t } = useTranslation();
  return (
    <Compared
      name={t('executions.detail.input')}
      isSame={isSame}
      cells={<Table.Td colSpan={4} />}
      diff={<InputDiff a={a} b={b} />}
    />
  );
}

function NodeRow({
  node,
  name,
  a,
  b,
}: {
  readonly node: NodeComparison;
  readonly name: string;
  readonly a: number;
  readonly b: number;
}) {
  const { node_id: nodeId } = node;
  return (
    <Compared
      name={name}
      isSame={node.a === null || node.b === null ? null : node.is_same_output}
      cells={
        <>
          <Table.Td>
            {node.a === null ? <Absent /> : <StatusLink id={a} nodeId={nodeId} node={node.a} />}
          </Table.Td>
          <Table.Td>
            {node.b === null ? <Absent /> : <StatusLink id={b} nodeId={nodeId} node={node.b} />}
          </Table.Td>
          <Table.Td ta="right" className={classes.number}>
            <Pair a={node.a?.duration_ms} b={node.b?.duration_ms} format={formatDuration} />
          </Table.Td>
          <Table.Td ta="right" className={classes.number}>
            <Pair a={node.a?.consumed_ai_tokens} b={node.b?.consumed_ai_tokens} format={String} />
          </Table.Td>
        </>
      }
      diff={
        <OutputDiff
          nodeId={nodeId}
          name={name}
          a={a}
          b={b}
          size={(node.a?.output_size ?? 0) + (node.b?.output_size ?? 0)}
        />
      }
    />
  );
}

/** The status of a node in one of the two, which leads there; what it failed with stands beside it. */
function StatusLink({
  id,
  nodeId,
  node,
}: {
  readonly id: number;
  readonly nodeId: string;
  readonly node: NonNullable<NodeComparison['a']>;
}) {
  return (
    <>
      <ExecutionLink id={id} node={nodeId}>
        <NodeStatus status={node.status} />
      </ExecutionLink>
      {node.error !== undefined && (
        <Text size="xs" className={classes.failure} lineClamp={2} title={explain(node.error.message)}>
          {node.error.code}: {explain(node.error.message)}
        </Text>
      )}
    </>
  );
}

/** A line of the comparison, and below it the difference when somebody wants to see it. */
function Compared({
  name,
  isSame,
  cells,
  diff,
}: {
  readonly name: string;
  /** Null: there is nothing to compare. */
  readonly isSame: boolean | null;
  readonly cells: ReactNode;
  readonly diff: ReactNode;
}) {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Table.Tr>
        <Table.Td fw={500} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Table.Td>
        {cells}
        <Table.Td>
          {isSame !== null && (
            <Group gap={6} wrap="nowrap">
              {isSame ? <Equal size={14} aria-hidden /> : <EqualNot size={14} aria-hidden />}
              <Text size="sm">{isSame ? t('executions.compare.same') : t('executions.compare.differs')}</Text>
              {!isSame && (
                <Button variant="subtle" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
                  {isOpen ? t('executions.compare.hideDiff') : t('executions.compare.showDiff')}
                </Button>
              )}
            </Group>
          )}
        </Table.Td>
      </Table.Tr>
      {isOpen && (
        <Table.Tr>
          <Table.Td colSpan={6}>
            <Suspense fallback={<LoadingRows rows={3} />}>{diff}</Suspense>
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
}

function Absent() {
  const { t } = useTranslation();
  return (
    <Text size="sm" c="dimmed">
      {t('executions.compare.absent')}
    </Text>
  );
}

/** Both values, and by how much the second is more or less. */
function Pair({
  a,
  b,
  format,
}: {
  readonly a: number | null | undefined;
  readonly b: number | null | undefined;
  readonly format: (value: number) => string;
}) {
  if (a == null && b == null) return null;
  const change = a == null || b == null ? 0 : b - a;
  return (
    <>
      {a == null ? '–' : format(a)} → {b == null ? '–' : format(b)}
      {change !== 0 && (
        <Text span size="xs" c="dimmed" ml={6}>
          {change > 0 ? '+' : '−'}
          {format(Math.abs(change))}
        </Text>
      )}
    </>
  );
}
