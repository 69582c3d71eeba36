import { Anchor, Badge, Checkbox, Group, Stack, Table, Text, VisuallyHidden } from '@mantine/core';
import type { ExecutionItem } from '@millrace/admin-api';
import { Link } from '@tanstack/react-router';
import { type MouseEvent, memo } from 'react';
import { useTranslation } from 'react-i18next';
import { useOrg } from '../../api/me.ts';
import { explain } from '../../i18n/service/index.ts';
import { formatDuration, Moment } from '../../ui/time.tsx';
import classes from './executions.module.css';
import { ExecutionMarks, ExecutionStatus, TriggerName } from './status.tsx';
import { useInSight } from './use-in-sight.ts';
import { isUnderWay, useNow } from './use-now.ts';

/** Selects a row, or takes it out; with the shift key all from the last one on. */
export type Toggle = (id: number, event: { readonly shiftKey: boolean }) => void;

interface RowProps {
  readonly item: ExecutionItem;
  readonly isSelected: boolean;
  /** Null: nothing can be selected. */
  readonly onToggle: Toggle | null;
}

const SELECTED = { bg: 'var(--mantine-primary-color-light)' };

/** An execution as a row; why it failed has a line of its own, as wide as the table. */
export const WideRow = memo(function WideRow({ item, isSelected, onToggle }: RowProps) {
  const { t } = useTranslation();
  const look = isSelected ? SELECTED : {};
  return (
    <>
      <Table.Tr
        data-execution={item.id}
        {...look}
        {...(item.error === undefined ? {} : { className: classes.failing })}
      >
        {onToggle !== null && (
          <Table.Td>
            <SelectBox item={item} isSelected={isSelected} onToggle={onToggle} />
          </Table.Td>
        )}
        <Table.Td>
          <ExecutionStatus status={item.status} />
        </Table.Td>
        <Table.Td>
          <NameCell item={item} />
        </Table.Td>
        <Table.Td>
          <WorkflowCell item={item} />
        </Table.Td>
        <Table.Td>
          <TriggerName type={item.trigger_type} />
        </Table.Td>
        <Table.Td>
          <Moment at={item.created_at} />
        </Table.Td>
        <Table.Td ta="right">
          <Duration item={item} />
        </Table.Td>
        <Table.Td ta="right" className={classes.number}>
          {item.consumed_ai_tokens === 0 ? (
            <Text c="dimmed" span aria-label={t('common.none')}>
              –
            </Text>
          ) : (
            item.consumed_ai_tokens.toLocaleString()
          )}
        </Table.Td>
      </Table.Tr>
      {item.error !== undefined && (
        <Table.Tr {...look} className={classes.why}>
          <Table.Td colSpan={onToggle === null ? 1 : 2} />
          <Table.Td colSpan={6}>
            <Why error={item.error} lines={2} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
});

/** The same where the window is narrow. */
export const NarrowRow = memo(function NarrowRow({ item, isSelected, onToggle }: RowProps) {
  return (
    <Stack
      component="li"
      gap={4}
      py="xs"
      data-execution={item.id}
      style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
    >
      <Group gap="xs" wrap="nowrap" align="flex-start">
        {onToggle !== null && <SelectBox item={item} isSelected={isSelected} onToggle={onToggle} />}
        <Stack gap={4} miw={0} flex={1}>
          <NameCell item={item} />
          {item.error !== undefined && <Why error={item.error} lines={3} />}
          <Group gap="xs" justify="space-between">
            <ExecutionStatus status={item.status} />
            <Text size="xs" span>
              <Duration item={item} />
            </Text>
            <Text size="xs" c="dimmed" component="span">
              <Moment at={item.created_at} />
            </Text>
          </Group>
        </Stack>
      </Group>
    </Stack>
  );
});

function SelectBox({
  item,
  isSelected,
  onToggle,
}: Pick<RowProps, 'item' | 'isSelected'> & { readonly onToggle: Toggle }) {
  const { t } = useTranslation();
  return (
    <Checkbox
      size="xs"
      mt={2}
      aria-label={t('executions.selectOne', { name: item.display_name })}
      checked={isSelected}
      onChange={() => {}}
      onClick={(event: MouseEvent) => onToggle(item.id, event)}
    />
  );
}

function NameCell({ item }: { readonly item: ExecutionItem }) {
  const { t } = useTranslation();
  const org = useOrg();
  return (
    <Group gap={6} wrap="nowrap" miw={0}>
      <Anchor
        component={Link}
        to={`/o/${org}/executions/${item.id}`}
        data-row-link
        size="sm"
        fw={500}
        truncate
        title={item.display_name}
        c="var(--mantine-color-text)"
      >
        {item.display_name}
      </Anchor>
      <ExecutionMarks item={item} />
      {item.rerun_of !== null && (
        <Badge color="gray" variant="outline" size="xs" style={{ flexShrink: 0 }}>
          {t('executions.rerunOf', { id: item.rerun_of })}
        </Badge>
      )}
    </Group>
  );
}

/** Where and why it failed. */
function Why({
  error,
  lines,
}: {
  readonly error: NonNullable<ExecutionItem['error']>;
  readonly lines: number;
}) {
  return (
    <Text size="xs" className={classes.failure} lineClamp={lines} title={explain(error.message)}>
      {error.node_id !== null && <strong>{error.node_id} · </strong>}
      {error.code}: {explain(error.message)}
    </Text>
  );
}

function WorkflowCell({ item }: { readonly item: ExecutionItem }) {
  const { t } = useTranslation();
  const org = useOrg();
  return (
    <Group gap={6} wrap="nowrap">
      <Anchor
        component={Link}
        to={`/o/${org}/workflows/${item.workflow_id}`}
        size="sm"
        truncate
        c="var(--mantine-color-text)"
        title={item.workflow_name ?? ''}
      >
        {item.workflow_name ?? `#${item.workflow_id}`}
      </Anchor>
      {item.workflow_version > 0 && (
        <Text size="xs" c="dimmed" span style={{ flexShrink: 0 }}>
          <VisuallyHidden>{t('executions.version', { version: item.workflow_version })}</VisuallyHidden>
          <span aria-hidden>v{item.workflow_version}</span>
        </Text>
      )}
    </Group>
  );
}

/** Of one that is under way it counts on, by itself: the row is not drawn again for it. */
function Duration({ item }: { readonly item: ExecutionItem }) {
  const [ref, isInSight] = useInSight<HTMLSpanElement>();
  const now = useNow(isUnderWay(item.status) && isInSight);
  return (
    <span ref={ref} className={classes.number}>
      {durationText(item, now)}
    </span>
  );
}

function durationText(item: ExecutionItem, now: number): string {
  if (item.duration_ms !== null) return formatDuration(item.duration_ms);
  if (item.started_at === null || !isUnderWay(item.status)) return '–';
  return formatDuration(Math.max(0, Math.floor((now - Date.parse(item.started_at)) / 1_000) * 1_000));
}
