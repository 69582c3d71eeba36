import { Button, Group, Switch, Text } from '@mantine/core';
import type { NodeComparison, ResponseBody } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { DataTable, type RowState } from '@millrace/ui/components/data-table.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { LoadingRows } from '@millrace/ui/components/states.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { formatDuration } from '@millrace/ui/components/time.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { useQueries } from '@tanstack/react-query';
import { Equal, EqualNot } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from '../common/executions.module.css';
import { NodeStatus } from '../common/status.tsx';
import { ExecutionLink } from '../detail/execution-facts.tsx';
import { useNodeNames } from '../detail/node-names.ts';

const loading = () => <LoadingRows rows={3} />;
const OutputDiff = lazyPart(async () => (await import('./output-diff.tsx')).OutputDiff, loading);
const InputDiff = lazyPart(async () => (await import('./output-diff.tsx')).InputDiff, loading);

/** Input and nodes of two executions, side by side or, in a narrow window, stacked. */
export function CompareNodes({
  a,
  b,
  nodes,
  is_same_input: isSameInput,
}: ResponseBody<'GET /orgs/:org/executions/compare'>) {
  const { t } = useTranslation();
  const names = useNames(a.id, b.id);
  const statusOf = (side: 'a' | 'b') => `${t('comparison.status')} ${t(`comparison.side.${side}`)}`;
  const [isOnlyDifferent, setIsOnlyDifferent] = useState(false);
  const input: Line = {
    id: '',
    name: t('executions.detail.input'),
    isSame: isSameInput,
    differs: !isSameInput,
    node: null,
    diff: <InputDiff a={a.id} b={b.id} />,
  };
  const lines = [input, ...nodes.map((node) => lineOf(node, names.get(node.node_id), a.id, b.id))];
  const shown = isOnlyDifferent ? lines.filter(({ differs }) => differs) : lines;
  return (
    <>
      <Switch
        size="xs"
        label={t('comparison.onlyDifferent')}
        checked={isOnlyDifferent}
        onChange={({ currentTarget }) => setIsOnlyDifferent(currentTarget.checked)}
      />
      {!lines.some(({ differs }) => differs) && <Text size="sm">{t('comparison.allSame')}</Text>}
      <DataTable
        aria-label={t('comparison.title')}
        minWidth={1_000}
        items={shown}
        columns={[
          { head: t('comparison.node'), cell: ({ name }) => <NodeName name={name} /> },
          { head: statusOf('a'), width: 150, cell: (line) => <StatusLink id={a.id} line={line} side="a" /> },
          { head: statusOf('b'), width: 150, cell: (line) => <StatusLink id={b.id} line={line} side="b" /> },
          {
            head: t('comparison.duration'),
            width: 180,
            isNumber: true,
            cell: ({ node }) => node !== null && <Durations node={node} />,
          },
          {
            head: t('comparison.tokens'),
            width: 130,
            isNumber: true,
            cell: ({ node }) => node !== null && <Tokens node={node} />,
          },
          {
            head: t('comparison.output'),
            width: 240,
            cell: (line, row) => <Verdict line={line} {...row} />,
          },
        ]}
        details={({ diff }) => diff}
        narrow={(line, row) => <NarrowLine line={line} row={row} a={a.id} b={b.id} />}
      />
    </>
  );
}

/** One compared row. */
interface Line {
  readonly id: string;
  readonly name: string;
  /** Null: nothing to compare. */
  readonly isSame: boolean | null;
  /** Different output or status. */
  readonly differs: boolean;
  /** Null: the input. */
  readonly node: NodeComparison | null;
  readonly diff: ReactNode;
}

interface LineProps {
  line: Line;
  a: number;
  b: number;
}

function lineOf(node: NodeComparison, name: string = node.node_id, a: number, b: number): Line {
  const size = (node.a?.output_size ?? 0) + (node.b?.output_size ?? 0);
  return {
    id: node.node_id,
    name,
    isSame: node.a === null || node.b === null ? null : node.is_same_output,
    differs: !node.is_same_output || node.a?.status !== node.b?.status,
    node,
    diff: <OutputDiff nodeId={node.node_id} name={name} a={a} b={b} size={size} />,
  };
}

/** Node names, from the first execution's version where it has the node. */
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

function NodeName({ name }: { name: string }) {
  return (
    <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
      {name}
    </Text>
  );
}

/** A row in a narrow window. */
function NarrowLine({ line, row, a, b }: LineProps & { row: RowState }) {
  const { t } = useTranslation();
  const { node } = line;
  return (
    <>
      <NodeName name={line.name} />
      {node !== null &&
        (['a', 'b'] as const).map((side) => (
          <Group key={side} gap="xs" wrap="nowrap" align="flex-start">
            <Muted>{t(`comparison.side.${side}`)}</Muted>
            <div>
              <StatusLink id={{ a, b }[side]} line={line} side={side} />
            </div>
          </Group>
        ))}
      {node !== null && (
        <Group gap="md" className={classes.number} fz="sm">
          <span>
            <Durations node={node} />
          </span>
          {hasTokens(node) && (
            <span>
              {t('comparison.tokens')} <Tokens node={node} />
            </span>
          )}
        </Group>
      )}
      <Verdict line={line} {...row} />
    </>
  );
}

/** Whether the outputs are equal; the diff is expanded on request. */
function Verdict({ line: { isSame }, isOpen, toggle }: { line: Line } & RowState) {
  const { t } = useTranslation();
  if (isSame === null) return null;
  return (
    <Group gap={6} wrap="nowrap">
      {isSame ? <Equal size={14} aria-hidden /> : <EqualNot size={14} aria-hidden />}
      <Text size="sm">{isSame ? t('comparison.same') : t('comparison.differs')}</Text>
      {!isSame && (
        <Button variant="subtle" aria-expanded={isOpen} onClick={toggle}>
          {isOpen ? t('comparison.hideDiff') : t('comparison.showDiff')}
        </Button>
      )}
    </Group>
  );
}

/** A node's status in one execution, as a link, with its error. */
function StatusLink({ id, line, side }: { id: number; line: Line; side: 'a' | 'b' }) {
  if (line.node === null) return null;
  const node = line.node[side];
  if (node === null) return <Absent />;
  return (
    <>
      <ExecutionLink id={id} node={line.id}>
        <NodeStatus status={node.status} />
      </ExecutionLink>
      {node.error !== undefined && (
        <Text size="xs" className={classes.failure} lineClamp={2} title={translateMessage(node.error)}>
          {node.error.code}: {translateMessage(node.error)}
        </Text>
      )}
    </>
  );
}

function Absent() {
  const { t } = useTranslation();
  return <Muted>{t('comparison.absent')}</Muted>;
}

function Durations({ node: { a, b } }: { node: NodeComparison }) {
  return <Pair a={a?.duration_ms} b={b?.duration_ms} format={formatDuration} />;
}

/** Empty if no model was called. */
function Tokens({ node }: { node: NodeComparison }) {
  if (!hasTokens(node)) return null;
  return <Pair a={node.a?.consumed_ai_tokens} b={node.b?.consumed_ai_tokens} format={String} />;
}

function hasTokens({ a, b }: NodeComparison): boolean {
  return (a?.consumed_ai_tokens ?? 0) + (b?.consumed_ai_tokens ?? 0) > 0;
}

const UNBROKEN = { whiteSpace: 'nowrap' };

/** Both values and the difference. Lines break between them, never before a unit. */
function Pair({
  a,
  b,
  format,
}: {
  a: number | null | undefined;
  b: number | null | undefined;
  format: (value: number) => string;
}) {
  if (a == null && b == null) return null;
  const change = a == null || b == null ? 0 : b - a;
  return (
    <>
      <span style={UNBROKEN}>{a == null ? '–' : format(a)} →</span>{' '}
      <span style={UNBROKEN}>{b == null ? '–' : format(b)}</span>{' '}
      {change !== 0 && (
        <Hint span style={UNBROKEN}>
          {change > 0 ? '+' : '−'}
          {format(Math.abs(change))}
        </Hint>
      )}
    </>
  );
}
