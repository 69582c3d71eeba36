import { Anchor, Badge, Checkbox, Group, Stack, Table, Text, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ExecutionItem } from '@millrace/admin-api';
import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, type MouseEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useOrg } from '../../api/me.ts';
import { formatDuration, Moment } from '../../ui/time.tsx';
import classes from './executions.module.css';
import { ExecutionMarks, ExecutionStatus, TriggerName } from './status.tsx';
import { isUnderWay, useNow } from './use-now.ts';

interface Selection {
  readonly selected: ReadonlySet<number>;
  /** Null: nothing can be selected. */
  readonly onSelect: ((ids: readonly number[], isSelected: boolean) => void) | null;
}

/** Executions as rows; where the window is narrow, one below the other. */
export function ExecutionTable({
  items,
  selected,
  onSelect,
}: Selection & { readonly items: readonly ExecutionItem[] }) {
  const { t } = useTranslation();
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const now = useNow(items.some(({ status }) => isUnderWay(status)));
  const lastId = useRef<number | null>(null);
  const toggle = (id: number, event: { readonly shiftKey: boolean }) => {
    const isSelected = !selected.has(id);
    onSelect?.(event.shiftKey ? between(items, lastId.current, id) : [id], isSelected);
    lastId.current = id;
  };
  const rowProps = (item: ExecutionItem) => ({
    item,
    now,
    isSelected: selected.has(item.id),
    onToggle: onSelect === null ? null : (event: { readonly shiftKey: boolean }) => toggle(item.id, event),
  });
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) =>
    moveOrSelect(event, onSelect === null ? null : toggle);
  if (isNarrow) {
    return (
      <Stack
        component="ul"
        gap={0}
        p={0}
        m={0}
        aria-label={t('executions.table')}
        style={{ listStyle: 'none' }}
        onKeyDown={onKeyDown}
      >
        {items.map((item) => (
          <NarrowRow key={item.id} {...rowProps(item)} />
        ))}
      </Stack>
    );
  }
  const ids = items.map(({ id }) => id);
  const isAll = ids.every((id) => selected.has(id));
  return (
    <Table
      highlightOnHover
      verticalSpacing={5}
      layout="fixed"
      aria-label={t('executions.table')}
      className={classes.table}
    >
      <Table.Thead>
        <Table.Tr>
          {onSelect !== null && (
            <Table.Th w={36}>
              <Checkbox
                size="xs"
                aria-label={t('executions.selectAll')}
                checked={isAll}
                indeterminate={!isAll && ids.some((id) => selected.has(id))}
                onChange={() => onSelect(ids, !isAll)}
              />
            </Table.Th>
          )}
          <Table.Th w={124}>{t('executions.column.status')}</Table.Th>
          <Table.Th>{t('executions.column.name')}</Table.Th>
          <Table.Th w="20%">{t('executions.column.workflow')}</Table.Th>
          <Table.Th w={130}>{t('executions.column.trigger')}</Table.Th>
          <Table.Th w={124}>{t('executions.column.accepted')}</Table.Th>
          <Table.Th w={92} ta="right">
            {t('executions.column.duration')}
          </Table.Th>
          <Table.Th w={76} ta="right">
            {t('executions.column.tokens')}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody onKeyDown={onKeyDown}>
        {items.map((item) => (
          <WideRow key={item.id} {...rowProps(item)} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

interface RowProps {
  readonly item: ExecutionItem;
  readonly now: number;
  readonly isSelected: boolean;
  readonly onToggle: ((event: { readonly shiftKey: boolean }) => void) | null;
}

function WideRow({ item, now, isSelected, onToggle }: RowProps) {
  const { t } = useTranslation();
  return (
    <Table.Tr data-execution={item.id} {...(isSelected ? { bg: 'var(--mantine-primary-color-light)' } : {})}>
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
      <Table.Td ta="right" className={classes.number}>
        {durationText(item, now)}
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
  );
}

function NarrowRow({ item, now, isSelected, onToggle }: RowProps) {
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
          <Group gap="xs" justify="space-between">
            <ExecutionStatus status={item.status} />
            <Text size="xs" className={classes.number}>
              {durationText(item, now)}
            </Text>
            <Text size="xs" c="dimmed" component="span">
              <Moment at={item.created_at} />
            </Text>
          </Group>
        </Stack>
      </Group>
    </Stack>
  );
}

function SelectBox({
  item,
  isSelected,
  onToggle,
}: Pick<RowProps, 'item' | 'isSelected'> & { readonly onToggle: NonNullable<RowProps['onToggle']> }) {
  const { t } = useTranslation();
  return (
    <Checkbox
      size="xs"
      mt={2}
      aria-label={t('executions.selectOne', { name: item.display_name })}
      checked={isSelected}
      onChange={() => {}}
      onClick={(event: MouseEvent) => onToggle(event)}
    />
  );
}

function NameCell({ item }: { readonly item: ExecutionItem }) {
  const { t } = useTranslation();
  const org = useOrg();
  return (
    <Stack gap={1} miw={0}>
      <Group gap={6} wrap="nowrap">
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
      {item.error !== undefined && (
        <Text size="xs" className={classes.failure} truncate title={item.error.message}>
          {item.error.code}: {item.error.message}
        </Text>
      )}
    </Stack>
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

function durationText(item: ExecutionItem, now: number): string {
  if (item.duration_ms !== null) return formatDuration(item.duration_ms);
  if (item.started_at === null || !isUnderWay(item.status)) return '–';
  return formatDuration(Math.max(0, Math.floor((now - Date.parse(item.started_at)) / 1_000) * 1_000));
}

function between(items: readonly ExecutionItem[], from: number | null, to: number): number[] {
  const ids = items.map(({ id }) => id);
  const [a, b] = [from === null ? -1 : ids.indexOf(from), ids.indexOf(to)];
  return a === -1 ? [to] : ids.slice(Math.min(a, b), Math.max(a, b) + 1);
}

/** Arrow keys go from row to row, the space bar selects the row one is at. */
function moveOrSelect(
  event: KeyboardEvent<HTMLElement>,
  toggle: ((id: number, event: KeyboardEvent) => void) | null,
): void {
  const target = event.target as HTMLElement;
  if (event.key === ' ' && target.dataset.rowLink !== undefined && toggle !== null) {
    event.preventDefault();
    toggle(Number(target.closest<HTMLElement>('[data-execution]')?.dataset.execution), event);
    return;
  }
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-execution]')];
  const at = rows.findIndex((row) => row.contains(target));
  const next = rows[at + (event.key === 'ArrowDown' ? 1 : -1)];
  if (next === undefined) return;
  event.preventDefault();
  next.querySelector<HTMLElement>('[data-row-link]')?.focus();
}
