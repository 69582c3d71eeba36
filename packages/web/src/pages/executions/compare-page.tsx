import {
  ActionIcon,
  Alert,
  Button,
  Group,
  NumberInput,
  Stack,
  Switch,
  Table,
  Text,
  Tooltip,
} from '@mantine/core';
import type { Answer, ExecutionItem, NodeComparison } from '@millrace/admin-api';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowLeftRight, Columns2, Equal, EqualNot } from 'lucide-react';
import { type FormEvent, Fragment, lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useOrg } from '../../api/me.ts';
import { endpointQuery } from '../../api/query.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorState, LoadingRows } from '../../ui/states.tsx';
import { formatDuration, Moment } from '../../ui/time.tsx';
import { ExecutionLink } from './execution-facts.tsx';
import classes from './executions.module.css';
import { readCompareSearch } from './search.ts';
import { ExecutionMarks, ExecutionStatus, NodeStatus } from './status.tsx';

const OutputDiff = lazy(async () => ({ default: (await import('./output-diff.tsx')).OutputDiff }));
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

/** The other one is chosen among those that have to do with it, or by its id. */
function PickOther({ a }: { readonly a: number }) {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const [id, setId] = useState<number | string>('');
  const { data } = useQuery(
    endpointQuery('GET /orgs/:org/executions/:execution', { params: { org, execution: a } }),
  );
  const workflow = data?.execution.workflow_id;
  const recent = useQuery({
    ...endpointQuery('GET /orgs/:org/executions', {
      params: { org },
      query: { workflow: workflow ?? 1, limit: 10 },
    }),
    enabled: workflow !== undefined,
  });
  const choose = (b: number) => void navigate({ to: '.', search: { a, b }, replace: true });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (Number(id) >= 1) choose(Number(id));
  };
  const others = (recent.data?.items ?? []).filter((item) => item.id !== a);
  return (
    <Stack gap="sm">
      <form onSubmit={submit}>
        <Group align="flex-end" gap="xs">
          <NumberInput
            label={t('executions.compare.pick', { id: a })}
            aria-label={t('executions.compare.pickLabel')}
            hideControls
            min={1}
            allowDecimal={false}
            value={id}
            onChange={setId}
            prefix="#"
          />
          <Button type="submit" disabled={Number(id) < 1}>
            {t('executions.compare.go')}
          </Button>
        </Group>
      </form>
      {others.length > 0 && (
        <Stack gap={6}>
          <Text size="sm" fw={600}>
            {t('executions.compare.suggestions')}
          </Text>
          {others.map((item) => (
            <Group key={item.id} gap="xs">
              <Button variant="default" onClick={() => choose(item.id)}>
                #{item.id}
              </Button>
              <ExecutionStatus status={item.status} />
              <Text size="sm" c="dimmed" component="span">
                <Moment at={item.created_at} />
              </Text>
              {item.rerun_of === a && (
                <Text size="xs" c="dimmed">
                  {t('executions.rerunOf', { id: a })}
                </Text>
              )}
            </Group>
          ))}
        </Stack>
      )}
    </Stack>
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

function Nodes({ a, b, nodes }: Answer<typeof COMPARE>) {
  const { t } = useTranslation();
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
      {!nodes.some(differs) && <Text size="sm">{t('executions.compare.allSame')}</Text>}
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
            {shown.map((node) => (
              <NodeRow key={node.node_id} node={node} a={a.id} b={b.id} />
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

function NodeRow({ node, a, b }: { readonly node: NodeComparison; readonly a: number; readonly b: number }) {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(false);
  const hasBoth = node.a !== null && node.b !== null;
  return (
    <Fragment>
      <Table.Tr>
        <Table.Td fw={500}>{node.node_id}</Table.Td>
        <Table.Td>{node.a === null ? <Absent /> : <NodeStatus status={node.a.status} />}</Table.Td>
        <Table.Td>{node.b === null ? <Absent /> : <NodeStatus status={node.b.status} />}</Table.Td>
        <Table.Td ta="right" className={classes.number}>
          <Pair a={node.a?.duration_ms} b={node.b?.duration_ms} format={formatDuration} />
        </Table.Td>
        <Table.Td ta="right" className={classes.number}>
          <Pair a={node.a?.consumed_ai_tokens} b={node.b?.consumed_ai_tokens} format={String} />
        </Table.Td>
        <Table.Td>
          {hasBoth && (
            <Group gap={6} wrap="nowrap">
              {node.is_same_output ? <Equal size={14} aria-hidden /> : <EqualNot size={14} aria-hidden />}
              <Text size="sm">
                {node.is_same_output ? t('executions.compare.same') : t('executions.compare.differs')}
              </Text>
              {!node.is_same_output && (
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
            <Suspense fallback={<LoadingRows rows={3} />}>
              <OutputDiff
                nodeId={node.node_id}
                a={a}
                b={b}
                size={(node.a?.output_size ?? 0) + (node.b?.output_size ?? 0)}
              />
            </Suspense>
          </Table.Td>
        </Table.Tr>
      )}
    </Fragment>
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
