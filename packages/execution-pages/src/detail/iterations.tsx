import { Anchor, Group, SegmentedControl, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core';
import type { NodeIteration } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { formatDuration } from '@millrace/ui/components/time.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { NodeStatus } from '../common/status.tsx';
import classes from './iterations.module.css';

const PAGE_SIZE = 20;

/** A node's runs in the iterations of its loop, paginated and selectable. */
export function Iterations({
  executionId,
  nodeId,
  chosen,
  loop,
  count,
  onChoose,
  onShowLoop,
}: {
  executionId: number;
  nodeId: string;
  chosen: string | null;
  /** The loop around it; null for a loop at top level, whose own end is shown without a selection. */
  loop: { readonly id: string; readonly label: string } | null;
  /** Total number of iterations; null while that may change. */
  count: number | null;
  onChoose: (place: string | null) => void;
  onShowLoop: (nodeId: string) => void;
}) {
  const { t } = useTranslation();
  const org = useOrg();
  const [skip, setSkip] = useState(0);
  const [filter, setFilter] = useState('all');
  const { data, isLoading } = useQuery({
    ...endpointQuery('GET /orgs/:org/executions/:execution/nodes/:node/iterations', {
      params: { org, execution: executionId, node: nodeId },
      query: { limit: PAGE_SIZE, skip, ...(filter === 'failed' ? { status: 'failed' as const } : {}) },
    }),
    placeholderData: keepPreviousData,
  });
  const total = data?.total ?? 0;
  return (
    <Stack gap={6}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {t('executions.iterations.title')}
        </Text>
        <SegmentedControl
          size="xs"
          value={filter}
          onChange={(value) => {
            setFilter(value);
            setSkip(0);
          }}
          data={[
            { value: 'all', label: t('executions.iterations.all') },
            { value: 'failed', label: t('executions.iterations.failed') },
          ]}
        />
      </Group>
      {isLoading && <Skeleton h={80} />}
      <ul className={classes.list}>
        <li>
          <Choice isChosen={chosen === null} onClick={() => onChoose(null)}>
            {loop === null ? t('executions.node.output') : t('executions.iterations.last')}
          </Choice>
        </li>
        {(data?.items ?? []).map((item) => (
          <Item key={item.iteration.join()} item={item} chosen={chosen} onChoose={onChoose} />
        ))}
      </ul>
      {data !== undefined && total === 0 && (
        <Hint component="div">
          {filter === 'all' && loop !== null && (
            <>
              {t('executions.iterations.notKept')}{' '}
              <Anchor component="button" type="button" size="xs" onClick={() => onShowLoop(loop.id)}>
                {t('executions.iterations.ofLoop', { loop: loop.label })}
              </Anchor>
            </>
          )}
          {(filter !== 'all' || loop === null) && t('executions.iterations.none')}
        </Hint>
      )}
      {filter === 'all' && loop !== null && count !== null && total > 0 && total < count && (
        <Hint>{t('executions.iterations.someKept', { kept: total, total: count })}</Hint>
      )}
      {total > PAGE_SIZE && (
        <Group gap="xs" justify="flex-end">
          <Hint role="status">
            {t('executions.iterations.range', {
              from: skip + 1,
              to: Math.min(total, skip + PAGE_SIZE),
              total,
            })}
          </Hint>
          <IconButton
            icon={ChevronLeft}
            label={t('executions.iterations.previous')}
            size="sm"
            disabled={skip === 0}
            onClick={() => setSkip(Math.max(0, skip - PAGE_SIZE))}
          />
          <IconButton
            icon={ChevronRight}
            label={t('executions.iterations.next')}
            size="sm"
            disabled={skip + PAGE_SIZE >= total}
            onClick={() => setSkip(skip + PAGE_SIZE)}
          />
        </Group>
      )}
    </Stack>
  );
}

function Item({
  item,
  chosen,
  onChoose,
}: {
  item: NodeIteration;
  chosen: string | null;
  onChoose: (place: string | null) => void;
}) {
  const { t } = useTranslation();
  const place = item.iteration.join();
  return (
    <li>
      <Choice isChosen={place === chosen} onClick={() => onChoose(place)}>
        <span className={classes.number}>
          {t('executions.iterations.number', { number: item.iteration.map((index) => index + 1).join('.') })}
        </span>
        <NodeStatus status={item.status} />
        <Hint span truncate title={item.error === undefined ? '' : translateMessage(item.error)}>
          {item.error !== undefined
            ? translateMessage(item.error)
            : item.duration_ms === null
              ? ''
              : formatDuration(item.duration_ms)}
        </Hint>
      </Choice>
    </li>
  );
}

function Choice({
  isChosen,
  onClick,
  children,
}: {
  isChosen: boolean;
  onClick: () => void;
  children: React.ReactNode;
}) {
  return (
    <UnstyledButton className={classes.choice} aria-pressed={isChosen} onClick={onClick}>
      {children}
    </UnstyledButton>
  );
}
