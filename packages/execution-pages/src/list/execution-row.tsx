import { Badge, Checkbox, Group, Text, VisuallyHidden } from '@mantine/core';
import type { ExecutionItem } from '@millrace/admin-api';
import { serviceNow } from '@millrace/ui/api/clock.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { RowLink } from '@millrace/ui/components/row-link.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { formatDuration, Moment, MomentText } from '@millrace/ui/components/time.tsx';
import { useNow } from '@millrace/ui/components/use-now.ts';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { type MouseEvent, memo } from 'react';
import { useTranslation } from 'react-i18next';
import classes from '../common/executions.module.css';
import { ROLES } from '../common/roles.ts';
import { ExecutionMarks, ExecutionStatus, TriggerName, triggerText } from '../common/status.tsx';
import { isUnderWay } from '../common/under-way.ts';

/** Toggles a row's selection; with Shift, the range from the last one. */
export type Toggle = (id: number, event: { readonly shiftKey: boolean }) => void;

interface RowProps {
  item: ExecutionItem;
  isSelected: boolean;
  /** Null: nothing is selectable. */
  onToggle: Toggle | null;
}

interface Near {
  /** Whether it is in or near the viewport; elsewhere its text is enough. */
  readonly isNear: boolean;
}

/** The row's 1-based position among all rows, including those that browsers skip. */
interface Placed {
  readonly place: number;
}

/** An execution as a row; a failure reason spans the table on its own line. */
export const WideRow = memo(function WideRow(props: RowProps & Near & Placed) {
  const { item, isSelected, onToggle, isNear, place } = props;
  const { t } = useTranslation();
  return (
    <tr
      {...ROLES.row}
      // The header is the first row.
      aria-rowindex={place + 1}
      data-execution={item.id}
      data-selected={isSelected || undefined}
      className={classes.row}
    >
      {onToggle !== null && (
        <td {...ROLES.cell}>
          {isNear && <SelectBox item={item} isSelected={isSelected} onToggle={onToggle} />}
        </td>
      )}
      <td {...ROLES.cell}>
        <Status status={item.status} isNear={isNear} />
      </td>
      <td {...ROLES.cell}>
        <NameCell item={item} isNear={isNear} />
      </td>
      <td {...ROLES.cell}>{isNear ? <WorkflowCell item={item} /> : workflowText(item)}</td>
      <td {...ROLES.cell}>
        {isNear ? <TriggerName type={item.trigger_type} /> : triggerText(t, item.trigger_type)}
      </td>
      <td {...ROLES.cell}>
        {isNear ? <Moment at={item.created_at} /> : <MomentText at={item.created_at} />}
      </td>
      <td {...ROLES.cell} className={classes.number}>
        <Duration item={item} isNear={isNear} />
      </td>
      <td {...ROLES.cell} className={classes.number}>
        <Tokens count={item.consumed_ai_tokens} isNear={isNear} />
      </td>
      {item.error !== undefined && (
        <td {...ROLES.cell} className={classes.reason}>
          <Why error={item.error} lines={2} />
        </td>
      )}
    </tr>
  );
});

/** The same in a narrow window. */
export const NarrowRow = memo(function NarrowRow(props: RowProps & Near & Placed) {
  const { item, isSelected, onToggle, isNear, place } = props;
  // The total is unknown until all are loaded.
  const placed = { 'aria-posinset': place, 'aria-setsize': -1 };
  return (
    <div {...ROLES.listItem} {...placed} data-execution={item.id} className={classes.narrow}>
      {onToggle !== null && (
        <div className={classes.box}>
          {isNear && <SelectBox item={item} isSelected={isSelected} onToggle={onToggle} />}
        </div>
      )}
      <div className={classes.narrowFacts}>
        <NameCell item={item} isNear={isNear} />
        {item.error !== undefined && <Why error={item.error} lines={3} />}
        <div className={classes.narrowLine}>
          <Status status={item.status} isNear={isNear} />
          <span className={classes.number}>
            <Duration item={item} isNear={isNear} />
          </span>
          <span className={classes.dimmed}>
            {isNear ? <Moment at={item.created_at} /> : <MomentText at={item.created_at} />}
          </span>
        </div>
      </div>
    </div>
  );
});

function Status({ status, isNear }: Near & Pick<ExecutionItem, 'status'>) {
  const { t } = useTranslation();
  if (isNear) return <ExecutionStatus status={status} />;
  return <span data-status={status}>{t(`executions.status.${status}`)}</span>;
}

function SelectBox({
  item,
  isSelected,
  onToggle,
}: Pick<RowProps, 'item' | 'isSelected'> & { onToggle: Toggle }) {
  const { t } = useTranslation();
  return (
    <Checkbox
      size="xs"
      mt={2}
      aria-label={t('runs.selectOne', { name: item.display_name })}
      checked={isSelected}
      onChange={() => {}}
      onClick={(event: MouseEvent) => onToggle(item.id, event)}
    />
  );
}

/** The link is the same element near and far: it may have the focus. */
const NameCell = memo(function NameCell({ item, isNear }: Near & Pick<RowProps, 'item'>) {
  const { t } = useTranslation();
  const org = useOrg();
  return (
    <div className={classes.cell}>
      <RowLink to={`/o/${org}/executions/${item.id}`} title={item.display_name} isName>
        {item.display_name}
      </RowLink>
      {isNear && <ExecutionMarks item={item} />}
      {isNear && item.rerun_of !== null && (
        <Badge color="gray" variant="outline" size="xs" style={{ flexShrink: 0 }}>
          {t('executions.rerunOf', { id: item.rerun_of })}
        </Badge>
      )}
    </div>
  );
});

/** Where and why it failed. */
function Why({ error, lines }: { error: NonNullable<ExecutionItem['error']>; lines: number }) {
  return (
    <Text size="xs" className={classes.failure} lineClamp={lines} title={translateMessage(error)}>
      {error.node_id !== null && <strong>{error.node_id} · </strong>}
      {error.code}: {translateMessage(error)}
    </Text>
  );
}

function WorkflowCell({ item }: { item: ExecutionItem }) {
  const { t } = useTranslation();
  const org = useOrg();
  return (
    <Group gap={6} wrap="nowrap">
      <RowLink to={`/o/${org}/workflows/${item.workflow_id}`} title={item.workflow_name ?? ''}>
        {workflowText(item)}
      </RowLink>
      {item.workflow_version > 0 && (
        <Hint span style={{ flexShrink: 0 }}>
          <VisuallyHidden>{t('executions.version', { version: item.workflow_version })}</VisuallyHidden>
          <span aria-hidden>v{item.workflow_version}</span>
        </Hint>
      )}
    </Group>
  );
}

function workflowText({ workflow_name: name, workflow_id: id }: ExecutionItem): string {
  return name ?? `#${id}`;
}

/** For a running execution it ticks by itself, without re-rendering the row. */
function Duration({ item, isNear }: Near & Pick<RowProps, 'item'>) {
  const now = useNow(isUnderWay(item.status) && isNear);
  return durationText(item, isNear ? now : serviceNow());
}

function durationText(item: ExecutionItem, now: number): string {
  if (item.duration_ms !== null) return formatDuration(item.duration_ms);
  if (item.started_at === null || !isUnderWay(item.status)) return '–';
  return formatDuration(Math.max(0, Math.floor((now - Date.parse(item.started_at)) / 1_000) * 1_000));
}

function Tokens({ count, isNear }: Near & { count: number }) {
  const { t } = useTranslation();
  if (count > 0) return count.toLocaleString();
  if (!isNear) return '–';
  return (
    <Text c="dimmed" span aria-label={t('common.none')}>
      –
    </Text>
  );
}
