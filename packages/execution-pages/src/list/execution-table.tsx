import { Box, Checkbox } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ExecutionItem } from '@millrace/admin-api';
import { useInSight } from '@millrace/ui/components/use-in-sight.ts';
import { type CSSProperties, type KeyboardEvent, memo, useCallback, useEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import classes from '../common/executions.module.css';
import { ROLES } from '../common/roles.ts';
import { NarrowRow, type Toggle, WideRow } from './execution-row.tsx';

interface Selection {
  readonly selected: ReadonlySet<number>;
  /** Null: nothing is selectable. */
  readonly onSelect: ((ids: readonly number[], isSelected: boolean) => void) | null;
}

/**
 * Executions as rows, stacked in a narrow window. There may be thousands: rows far from the viewport contain only text
 * and a link, and browsers skip rendering them until they are scrolled to, focused or printed.
 */
export function ExecutionTable({
  items,
  isWhole,
  selected,
  onSelect,
}: Selection & {
  items: readonly ExecutionItem[];
  /** The list is complete. */
  isWhole: boolean;
}) {
  const { t } = useTranslation();
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const toggle = useToggle(items, selected, onSelect);
  const onToggle = onSelect === null ? null : toggle;
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => moveOrSelect(event, onToggle);
  const chunks = useMemo(() => chunksOf(items), [items]);
  const rows = { selected, onToggle };
  if (isNarrow) {
    return (
      <Box {...ROLES.list} aria-label={t('runs.table')} onKeyDown={onKeyDown}>
        {chunks.map((chunk, index) => (
          <NarrowChunk key={chunk[0]?.id} items={chunk} above={index * CHUNK} {...rows} />
        ))}
      </Box>
    );
  }
  return (
    <table
      {...ROLES.table}
      aria-label={t('runs.table')}
      aria-rowcount={isWhole ? items.length + 1 : -1}
      className={classes.table}
      data-selectable={onSelect !== null || undefined}
      onKeyDown={onKeyDown}
    >
      <Head items={items} selected={selected} onSelect={onSelect} />
      {chunks.map((chunk, index) => (
        <WideChunk key={chunk[0]?.id} items={chunk} above={index * CHUNK} {...rows} />
      ))}
    </table>
  );
}

/** Number of rows that are fully rendered, or skipped, together. */
const CHUNK = 20;

function chunksOf(items: readonly ExecutionItem[]): readonly (readonly ExecutionItem[])[] {
  return Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, index) =>
    items.slice(index * CHUNK, (index + 1) * CHUNK),
  );
}

interface ChunkProps {
  items: readonly ExecutionItem[];
  /** Number of rows before it. */
  above: number;
  selected: ReadonlySet<number>;
  onToggle: Toggle | null;
}

/** Ignores changes elsewhere in the list. */
function isUnchanged(before: ChunkProps, after: ChunkProps): boolean {
  return (
    before.onToggle === after.onToggle &&
    before.above === after.above &&
    before.items.length === after.items.length &&
    before.items.every(
      (item, index) =>
        item === after.items[index] && before.selected.has(item.id) === after.selected.has(item.id),
    )
  );
}

const WideChunk = memo(function WideChunk(chunk: ChunkProps) {
  const [ref, isNear] = useInSight<HTMLTableSectionElement>();
  return (
    <tbody {...ROLES.group} ref={ref} className={classes.chunk} style={roomFor(chunk.items, 32, 22)}>
      {rowsOf(WideRow, chunk, isNear)}
    </tbody>
  );
}, isUnchanged);

const NarrowChunk = memo(function NarrowChunk(chunk: ChunkProps) {
  const [ref, isNear] = useInSight<HTMLDivElement>();
  return (
    <div ref={ref} className={classes.chunk} style={roomFor(chunk.items, 65, 38)}>
      {rowsOf(NarrowRow, chunk, isNear)}
    </div>
  );
}, isUnchanged);

function rowsOf(Row: typeof WideRow, { items, above, selected, onToggle }: ChunkProps, isNear: boolean) {
  return items.map((item, index) => (
    <Row
      key={item.id}
      place={above + index + 1}
      item={item}
      isSelected={selected.has(item.id)}
      onToggle={onToggle}
      isNear={isNear}
    />
  ));
}

/** Estimated height of skipped rows, so that the page has its final length. */
function roomFor(items: readonly ExecutionItem[], rowPx: number, reasonPx: number): CSSProperties {
  const reasons = items.filter(({ error }) => error !== undefined).length;
  return { containIntrinsicBlockSize: `auto ${items.length * rowPx + reasons * reasonPx}px` };
}

/** A stable callback, so that changing one row re-renders one row. */
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

function Head({ items, selected, onSelect }: Selection & { items: readonly ExecutionItem[] }) {
  const { t } = useTranslation();
  const ids = items.map(({ id }) => id);
  const isAll = ids.every((id) => selected.has(id));
  return (
    <thead {...ROLES.group}>
      <tr {...ROLES.row} className={classes.head}>
        {onSelect !== null && (
          <th {...ROLES.head}>
            <Checkbox
              size="xs"
              aria-label={t('runs.selectAll')}
              checked={isAll}
              indeterminate={!isAll && ids.some((id) => selected.has(id))}
              onChange={() => onSelect(ids, !isAll)}
            />
          </th>
        )}
        <th {...ROLES.head}>{t('runs.column.status')}</th>
        <th {...ROLES.head}>{t('runs.column.name')}</th>
        <th {...ROLES.head}>{t('runs.column.workflow')}</th>
        <th {...ROLES.head}>{t('runs.column.trigger')}</th>
        <th {...ROLES.head}>{t('runs.column.accepted')}</th>
        <th {...ROLES.head} className={classes.number}>
          {t('runs.column.duration')}
        </th>
        <th {...ROLES.head} className={classes.number}>
          {t('runs.column.tokens')}
        </th>
      </tr>
    </thead>
  );
}

function between(items: readonly ExecutionItem[], from: number | null, to: number): number[] {
  const ids = items.map(({ id }) => id);
  const [a, b] = [from === null ? -1 : ids.indexOf(from), ids.indexOf(to)];
  return a === -1 ? [to] : ids.slice(Math.min(a, b), Math.max(a, b) + 1);
}

/** Arrow keys move between rows, Space selects the current one. */
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
