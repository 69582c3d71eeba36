import { Badge, Box, Checkbox, Group, Stack, Tooltip } from '@mantine/core';
import type { WorkflowItem } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { type Column, DataTable } from '@millrace/ui/components/data-table.tsx';
import { IconBadge } from '@millrace/ui/components/icon-badge.tsx';
import { RowLink } from '@millrace/ui/components/row-link.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { FlaskConical, PencilLine } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { FavouriteButton } from './favourite-button.tsx';
import { readListSearch } from './list-search.ts';
import { RunStrip } from './run-strip.tsx';
import { useSelectionContext } from './selection.ts';
import { StatusBadge } from './status-badge.tsx';
import { TriggerName } from './trigger-name.tsx';
import { WorkflowActions } from './workflow-actions.tsx';

/** The workflows as a table, or as a list in a narrow window. */
export function WorkflowTable({ items }: { items: readonly WorkflowItem[] }) {
  const { t } = useTranslation();
  const isSelectable = useSelectionContext() !== null;
  const columns = useMemo(() => columnsOf(t, isSelectable), [t, isSelectable]);
  return (
    <DataTable items={items} columns={columns} actions={actionsOf} actionsWidth={84} narrow={narrowOf} />
  );
}

function columnsOf(t: TFunction, isSelectable: boolean): readonly Column<WorkflowItem>[] {
  const select: Column<WorkflowItem> = {
    head: { hidden: t('folders.bulk.select') },
    width: 40,
    cell: (item) => <SelectBox item={item} />,
  };
  return [
    ...(isSelectable ? [select] : []),
    { head: t('workflows.name'), cell: (item) => <NameCell item={item} /> },
    {
      head: t('workflows.statusLabel'),
      width: 140,
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    {
      head: t('workflows.trigger'),
      width: 150,
      cell: (item) => <TriggerName type={item.trigger_type} others={item.other_triggers} />,
    },
    { head: t('workflows.lastRuns'), width: 172, cell: (item) => <RunStrip runs={item.last_runs} /> },
    { head: t('workflows.lastRun'), width: 184, cell: (item) => <LastRunCell item={item} /> },
  ];
}

function SelectBox({ item: { id, name } }: { item: WorkflowItem }) {
  const { t } = useTranslation();
  const selection = useSelectionContext();
  if (selection === null) return null;
  return (
    <Checkbox
      size="xs"
      aria-label={t('folders.bulk.selectNamed', { name })}
      checked={selection.selected.has(id)}
      onChange={({ currentTarget }) => selection.select([id], currentTarget.checked)}
    />
  );
}

const actionsOf = (item: WorkflowItem) => <WorkflowActions item={item} />;
const narrowOf = (item: WorkflowItem) => <NarrowRow item={item} />;

function NarrowRow({ item }: { item: WorkflowItem }) {
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Group gap="xs" wrap="nowrap" miw={0}>
          <SelectBox item={item} />
          <NameCell item={item} />
        </Group>
        <WorkflowActions item={item} />
      </Group>
      <Group gap="xs" wrap="nowrap">
        <Box miw={92}>
          <StatusBadge status={item.status} />
        </Box>
        <RunStrip runs={item.last_runs} />
        <Box ml="auto">
          <LastRunTime item={item} />
        </Box>
      </Group>
    </>
  );
}

function NameCell({ item }: { item: WorkflowItem }) {
  const { id, name, description, tags, is_test_mode: isTest, has_draft: hasDraft } = item;
  const { t } = useTranslation();
  const org = String(useOrg());
  return (
    <Stack gap={2} miw={0}>
      <Group gap={6} wrap="nowrap">
        <FavouriteButton item={item} />
        <RowLink to={`/o/${org}/workflows/${id}`} title={name} isName>
          {name}
        </RowLink>
        {isTest && (
          <IconBadge icon={FlaskConical} color="grape" hint={t('workflows.testModeHint')}>
            {t('workflows.testMode')}
          </IconBadge>
        )}
        {hasDraft && (
          <IconBadge icon={PencilLine} color="yellow" hint={t('workflows.draftHint')}>
            {t('workflows.unsaved')}
          </IconBadge>
        )}
      </Group>
      {description !== '' && (
        <Hint truncate title={description}>
          {description}
        </Hint>
      )}
      {tags.length > 0 && <TagLinks tags={tags} />}
    </Stack>
  );
}

/** More would give rows different heights. */
const MAX_TAGS = 4;

/** Each tag links to the workflows that have it. */
function TagLinks({ tags }: { tags: readonly string[] }) {
  const { t } = useTranslation();
  const org = String(useOrg());
  const rest = tags.slice(MAX_TAGS);
  return (
    <Group gap={4}>
      {tags.slice(0, MAX_TAGS).map((tag) => (
        <Badge
          key={tag}
          color="gray"
          size="xs"
          maw={140}
          style={{ cursor: 'pointer' }}
          aria-label={t('workflows.withTag', { tag })}
          title={tag}
          renderRoot={(props) => (
            <Link
              {...props}
              to="/o/$org/workflows"
              params={{ org }}
              search={(old: object) => readListSearch({ ...old, tag })}
            />
          )}
        >
          {tag}
        </Badge>
      ))}
      {rest.length > 0 && (
        <Tooltip label={rest.join(', ')} multiline maw={320} style={{ overflowWrap: 'anywhere' }}>
          <Hint>+{rest.length}</Hint>
        </Tooltip>
      )}
    </Group>
  );
}

function LastRunTime({ item: { last_run: run } }: { item: WorkflowItem }) {
  const { t } = useTranslation();
  const org = useOrg();
  if (run === null) return <Muted>{t('workflows.neverRan')}</Muted>;
  return (
    <RowLink to={`/o/${org}/executions/${run.id}`}>
      <Moment at={run.created_at} />
    </RowLink>
  );
}

function LastRunCell({ item }: { item: WorkflowItem }) {
  const { t } = useTranslation();
  const { last_run: run } = item;
  const failed = t('executions.status.failed');
  return (
    <Group gap={6} wrap="nowrap">
      <LastRunTime item={item} />
      {run?.status === 'failed' && (
        <Tooltip label={run.error === null ? failed : translateMessage(run.error)} multiline maw={320}>
          <Badge color="red" size="xs" style={{ flexShrink: 0 }}>
            {failed}
          </Badge>
        </Tooltip>
      )}
    </Group>
  );
}
