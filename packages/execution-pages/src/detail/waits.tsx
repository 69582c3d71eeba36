import '@millrace/ui/i18n/parts/executions.ts';
import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import type { Approval, ExecutionDetail, NodeSummary } from '@millrace/admin-api';
import { useRole } from '@millrace/ui/api/me.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { formatDuration, Moment } from '@millrace/ui/components/time.tsx';
import { useNow } from '@millrace/ui/components/use-now.ts';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { Hourglass } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChoiceNames } from '../approvals/choice-name.ts';
import classes from '../common/executions.module.css';
import { isUnderWay } from '../common/under-way.ts';
import { ExecutionLink } from './execution-facts.tsx';
import type { NodeNames } from './node-names.ts';

const DecisionDialog = lazyPart(
  async () => (await import('../approvals/decision-dialog.tsx')).DecisionDialog,
);

/** Maximum listed per kind. */
const MAX_LISTED = 10;

interface WaitsProps {
  detail: ExecutionDetail;
  names: NodeNames;
  onChoose: (nodeId: string) => void;
}

/** What or whom an execution is waiting for, and until when. */
export function Waits(props: WaitsProps) {
  const { detail } = props;
  // Kept here, not in the item, which disappears when someone else decides first.
  const [deciding, setDeciding] = useState<Deciding | null>(null);
  return (
    <>
      {isUnderWay(detail.execution.status) && <List {...props} onDecide={setDeciding} />}
      {deciding !== null && <DecisionDialog {...deciding} onClose={() => setDeciding(null)} />}
    </>
  );
}

interface Deciding {
  readonly item: Approval;
  readonly choice: Approval['choices'][number];
}

function List({
  detail,
  names,
  onChoose,
  onDecide,
}: WaitsProps & { onDecide: (deciding: Deciding) => void }) {
  const { t } = useTranslation();
  const { approvals, callbacks, children } = detail;
  const explained = new Set([...approvals, ...callbacks].map((each) => each.node_id));
  const calls = children.filter(({ node_id: id, status }) => isUnderWay(status) && isWaiting(detail, id));
  for (const { node_id: id } of calls) explained.add(id);
  const others = detail.nodes.filter(
    ({ node_id: id, waiting }) => waiting !== undefined && !explained.has(id),
  );
  const count = approvals.length + callbacks.length + calls.length + others.length;
  if (count === 0) return null;
  const at = (nodeId: string) => (
    <Anchor component="button" type="button" size="sm" inherit onClick={() => onChoose(nodeId)}>
      {names.labels.get(nodeId) ?? nodeId}
    </Anchor>
  );
  return (
    <section className={classes.waits} aria-label={t('executions.waits.title')}>
      <Group gap={6} mb={6}>
        <Hourglass size={16} aria-hidden />
        <Text span size="sm" fw={600}>
          {t('executions.waits.title')}
        </Text>
      </Group>
      <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {approvals.slice(0, MAX_LISTED).map((approval) => (
          <AskedApproval
            key={approval.id}
            approval={approval}
            at={at(approval.node_id)}
            onDecide={(choice) => onDecide({ item: approval, choice })}
          />
        ))}
        {callbacks.slice(0, MAX_LISTED).map((callback) => (
          <Wait
            key={`${callback.node_id} ${callback.iteration.join()}`}
            at={at(callback.node_id)}
            until={callback.expires_at}
          >
            {t('executions.waits.callback')}
          </Wait>
        ))}
        {calls.slice(0, MAX_LISTED).map((child) => (
          <Wait key={child.execution_id} at={at(child.node_id)} until={null}>
            {t('executions.waits.child')} <ExecutionLink id={child.execution_id} />
          </Wait>
        ))}
        {others.slice(0, MAX_LISTED).map((node) => (
          <Wait
            key={node.node_id}
            at={at(node.node_id)}
            until={node.waiting?.until ?? null}
            isDeadline={node.waiting?.for === 'signal'}
          >
            <Other node={node} />
          </Wait>
        ))}
        {[approvals, callbacks, calls, others].some(({ length }) => length > MAX_LISTED) && (
          <Hint component="li">{t('executions.waits.more', { count })}</Hint>
        )}
      </Stack>
    </section>
  );
}

function isWaiting({ nodes }: ExecutionDetail, nodeId: string): boolean {
  return nodes.some(({ node_id: id, waiting }) => id === nodeId && waiting !== undefined);
}

function Wait({
  at,
  until,
  isDeadline = true,
  children,
}: {
  at: ReactNode;
  /** Null: it may wait forever. */
  until: string | null;
  /** False: the execution continues then. */
  isDeadline?: boolean;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  return (
    <Text size="sm" component="li">
      {children}
      {' · '}
      {t('executions.error.atNode')} {at}
      {until !== null && (
        <>
          {' · '}
          {t(isDeadline ? 'executions.node.until' : 'executions.waits.resumes')}{' '}
          <Moment at={until} relative={false} /> <Left until={until} />
        </>
      )}
    </Text>
  );
}

/** The remaining time. */
function Left({ until }: { until: string }) {
  const { t } = useTranslation();
  const leftMs = Math.ceil((Date.parse(until) - useNow()) / 1_000) * 1_000;
  if (leftMs <= 0) return null;
  return (
    <Hint span className={classes.number}>
      ({t('executions.waits.left', { time: formatDuration(leftMs) })})
    </Hint>
  );
}

/** A delay, a retry, a host, or a signal without further details. */
function Other({ node }: { node: NodeSummary }) {
  const { t } = useTranslation();
  if (node.waiting?.for === 'retry') {
    return (
      <>
        {t('executions.waits.retry', { attempt: node.attempts + 1 })}
        {node.error !== undefined && (
          <Text span c="dimmed">
            {` ${node.error.code}: ${translateMessage(node.error)}`}
          </Text>
        )}
      </>
    );
  }
  if (node.waiting?.host !== undefined) return t('executions.waits.host', { host: node.waiting.host });
  return t(node.waiting?.for === 'delay' ? 'executions.waits.delay' : 'executions.waits.signal');
}

/** An approval that can be decided here. */
function AskedApproval({
  approval,
  at,
  onDecide,
}: {
  approval: Approval;
  at: ReactNode;
  onDecide: (choice: Deciding['choice']) => void;
}) {
  const { t } = useTranslation();
  const nameChoices = useChoiceNames();
  const { can } = useRole();
  return (
    <li>
      <Group gap="xs">
        <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
          {t('executions.waits.approval')} <strong>{approval.title}</strong>
        </Text>
        {can('editor') && (
          <Group gap="xs">
            {nameChoices(approval.choices).map((each) => (
              <Button key={each.id} variant="default" size="compact-sm" onClick={() => onDecide(each)}>
                {each.label}
              </Button>
            ))}
          </Group>
        )}
      </Group>
      <Hint component="div">
        {t('executions.error.atNode')} {at}
        {' · '}
        {t('executions.node.until')} <Moment at={approval.expires_at} relative={false} />{' '}
        <Left until={approval.expires_at} />
      </Hint>
    </li>
  );
}
