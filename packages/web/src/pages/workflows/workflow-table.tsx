import { Anchor, Badge, Group, Stack, Table, Text, Tooltip } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
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
import { Moment } from '../../ui/time.tsx';
import { RunStrip } from './run-strip.tsx';
import { StatusBadge } from './status-badge.tsx';
import { WorkflowActions } from './workflow-actions.tsx';

/** The workflows as a table; in a narrow window as a list. */
export function WorkflowTable({ items }: { readonly items: readonly WorkflowItem[] }) {
  const { t } = useTranslation();
  const isNarrow = useMediaQuery('(max-width: 48em)', false);
  if (isNarrow) {
    return (
      <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {items.map((item) => (
          <NarrowRow key={item.id} item={item} />
        ))}
      </Stack>
    );
  }
  return (
    <Table highlightOnHover verticalSpacing={6} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('workflows.name')}</Table.Th>
          <Table.Th w={120}>{t('workflows.statusLabel')}</Table.Th>
          <Table.Th w={150}>{t('workflows.trigger')}</Table.Th>
          <Table.Th w={172}>{t('workflows.lastRuns')}</Table.Th>
          <Table.Th w={140}>{t('workflows.lastRun')}</Table.Th>
          <Table.Th w={84}>
            <Text span className="mantine-visually-hidden" fz={0}>
              {t('common.actions')}
            </Text>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((item) => (
          <Table.Tr key={item.id}>
            <Table.Td>
              <NameCell item={item} />
            </Table.Td>
            <Table.Td>
              <StatusBadge status={item.status} />
            </Table.Td>
            <Table.Td>
              <TriggerCell type={item.trigger_type} />
            </Table.Td>
            <Table.Td>
              <RunStrip runs={item.last_runs} />
            </Table.Td>
            <Table.Td>
              <LastRunCell item={item} />
            </Table.Td>
            <Table.Td>
              <WorkflowActions item={item} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function NarrowRow({ item }: { readonly item: WorkflowItem }) {
  return (
    <Stack
      component="li"
      gap={6}
      py="sm"
      style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
    >
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <NameCell item={item} />
        <WorkflowActions item={item} />
      </Group>
      <Group gap="xs" justify="space-between">
        <StatusBadge status={item.status} />
        <RunStrip runs={item.last_runs} />
        <LastRunCell item={item} />
      </Group>
    </Stack>
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
