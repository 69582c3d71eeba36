import { Anchor, Badge, Group, Stack, Text, Tooltip } from '@mantine/core';
import type { WorkflowItem } from '@millrace/admin-api';
import { Link } from '@tanstack/react-router';
import {
  CalendarClock,
  CircleHelp,
  FlaskConical,
  Hand,
  type LucideIcon,
  PencilLine,
  Webhook,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useOrg } from '../../api/me.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { Moment } from '../../ui/time.tsx';
import { RunStrip } from './run-strip.tsx';
import { StatusBadge } from './status-badge.tsx';
import { WorkflowActions } from './workflow-actions.tsx';

/** The workflows as a table; in a narrow window as a list. */
export function WorkflowTable({ items }: { readonly items: readonly WorkflowItem[] }) {
  const { t } = useTranslation();
  return (
    <DataTable
      items={items}
      columns={[
        { head: t('workflows.name'), cell: (item) => <NameCell item={item} /> },
        {
          head: t('workflows.statusLabel'),
          width: 120,
          cell: ({ status }) => <StatusBadge status={status} />,
        },
        {
          head: t('workflows.trigger'),
          width: 150,
          cell: (item) => <TriggerCell type={item.trigger_type} />,
        },
        { head: t('workflows.lastRuns'), width: 172, cell: (item) => <RunStrip runs={item.last_runs} /> },
        { head: t('workflows.lastRun'), width: 140, cell: (item) => <LastRunCell item={item} /> },
      ]}
      actions={(item) => <WorkflowActions item={item} />}
      actionsWidth={84}
      narrow={(item) => <NarrowRow item={item} />}
    />
  );
}

function NarrowRow({ item }: { readonly item: WorkflowItem }) {
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <NameCell item={item} />
        <WorkflowActions item={item} />
      </Group>
      <Group gap="xs" justify="space-between">
        <StatusBadge status={item.status} />
        <RunStrip runs={item.last_runs} />
        <LastRunCell item={item} />
      </Group>
    </>
  );
}

function NameCell({
  item: { id, name, tags, is_test_mode: isTest, has_draft: hasDraft },
}: {
  readonly item: WorkflowItem;
}) {
  const { t } = useTranslation();
  const org = String(useOrg());
  return (
    <Stack gap={2} miw={0}>
      <Group gap={6} wrap="nowrap">
        <Anchor
          component={Link}
          to={`/o/${org}/workflows/${id}`}
          fw={500}
          size="sm"
          truncate
          title={name}
          c="var(--mantine-color-text)"
        >
          {name}
        </Anchor>
        {isTest && (
          <Tooltip label={t('workflows.testModeHint')}>
            <Badge
              color="grape"
              leftSection={<FlaskConical size={10} aria-hidden />}
              style={{ flexShrink: 0 }}
            >
              {t('workflows.testMode')}
            </Badge>
          </Tooltip>
        )}
        {hasDraft && (
          <Tooltip label={t('workflows.draftHint')}>
            <Badge
              color="yellow"
              leftSection={<PencilLine size={10} aria-hidden />}
              style={{ flexShrink: 0 }}
            >
              {t('workflows.unsaved')}
            </Badge>
          </Tooltip>
        )}
      </Group>
      {tags.length > 0 && (
        <Group gap={4}>
          {tags.map((tag) => (
            <Badge key={tag} color="gray" size="xs" maw={140}>
              {tag}
            </Badge>
          ))}
        </Group>
      )}
    </Stack>
  );
}

const TRIGGER_ICONS: { readonly [type: string]: LucideIcon } = {
  'trigger.webhook': Webhook,
  'trigger.schedule': CalendarClock,
  'trigger.manual': Hand,
};

function TriggerCell({ type }: { readonly type: string | null }) {
  const { t } = useTranslation();
  const Icon = TRIGGER_ICONS[type ?? ''] ?? CircleHelp;
  const name =
    type === 'trigger.webhook' || type === 'trigger.schedule' || type === 'trigger.manual'
      ? type.slice('trigger.'.length)
      : 'none';
  return (
    <Group gap={6} wrap="nowrap">
      <Icon size={14} aria-hidden />
      <Text size="sm" truncate>
        {t(`workflows.triggerName.${name as 'webhook' | 'schedule' | 'manual' | 'none'}`)}
      </Text>
    </Group>
  );
}

function LastRunCell({ item: { last_run: run } }: { readonly item: WorkflowItem }) {
  const { t } = useTranslation();
  const org = String(useOrg());
  if (run === null) {
    return (
      <Text size="sm" c="dimmed">
        {t('workflows.neverRan')}
      </Text>
    );
  }
  return (
    <Anchor component={Link} to={`/o/${org}/executions/${run.id}`} size="sm" c="var(--mantine-color-text)">
      <Moment at={run.created_at} />
    </Anchor>
  );
}
