import { Checkbox, Stack, Table } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ExecutionItem } from '@millrace/admin-api';
import { type KeyboardEvent, useCallback, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { NarrowRow, type Toggle, WideRow } from './execution-row.tsx';
import classes from './executions.module.css';

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
  const toggle = useToggle(items, selected, onSelect);
  const onToggle = onSelect === null ? null : toggle;
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => moveOrSelect(event, onToggle);
  const rows = items.map((item) => {
    const Row = isNarrow ? NarrowRow : WideRow;
    return <Row key={item.id} item={item} isSelected={selected.has(item.id)} onToggle={onToggle} />;
  });
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
        {rows}
      </Stack>
    );
  }
  return (
    <Table
      highlightOnHover
      verticalSpacing={5}
      layout="fixed"
      aria-label={t('executions.table')}
      className={classes.table}
    >
      <Head items={items} selected={selected} onSelect={onSelect} />
      <Table.Tbody onKeyDown={onKeyDown}>{rows}</Table.Tbody>
    </Table>
  );
}

/** Always the same function, so that a change of one row draws one row. */
function useToggle(
  items: readonly ExecutionItem[],
  selected: ReadonlySet<number>,
  onSelect: Selection['onSelect'],
): Toggle {
  const lastId = useRef<number | null>(null);
  const latest = useRef({ items, selected, onSelect });
  useEffect(() => {
    latest.current = { items, selected, onSelect };
  });
  return useCallback((id, { shiftKey }) => {
    const now = latest.current;
    now.onSelect?.(shiftKey ? between(now.items, lastId.current, id) : [id], !now.selected.has(id));
    lastId.current = id;
  }, []);
}

function Head({ items, selected, onSelect }: Selection & { readonly items: readonly ExecutionItem[] }) {
  const { t } = useTranslation();
  const ids = items.map(({ id }) => id);
  const isAll = ids.every((id) => selected.has(id));
  return (
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
        <Table.Th w={150}>{t('executions.column.trigger')}</Table.Th>
        <Table.Th w={124}>{t('executions.column.accepted')}</Table.Th>
        <Table.Th w={92} ta="right">
          {t('executions.column.duration')}
        </Table.Th>
        <Table.Th w={76} ta="right">
          {t('executions.column.tokens')}
        </Table.Th>
      </Table.Tr>
    </Table.Thead>
  );
}

function between(items: readonly ExecutionItem[], from: number | null, to: number): number[] {
  const ids = items.map(({ id }) => id);
  const [a, b] = [from === null ? -1 : ids.indexOf(from), ids.indexOf(to)];
  return a === -1 ? [to] : ids.slice(Math.min(a, b), Math.max(a, b) + 1);
}

/** Arrow keys go from row to row, the space bar selects the row one is at. */
function moveOrSelect(event: KeyboardEvent<HTMLElement>, toggle: Toggle | null): void {
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
