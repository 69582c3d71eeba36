import { ActionIcon, Code, Group, Stack, Text } from '@mantine/core';
import type { AuditItem } from '@millrace/admin-api';
import { CopyIcon } from '@millrace/ui/components/copy.tsx';
import { type Column, DataTable, type RowState } from '@millrace/ui/components/data-table.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import type { TFunction } from 'i18next';
import { ChevronRight } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useActionText } from './action-text.ts';

/** The entries as an expandable table, or as a list in a narrow window. */
export function AuditTable({ items }: { items: readonly AuditItem[] }) {
  const { t } = useTranslation();
  const columns = useMemo(() => columnsOf(t), [t]);
  return (
    <DataTable items={items} columns={columns} details={detailsOf} narrow={narrowOf} narrowBelow="62em" />
  );
}

function columnsOf(t: TFunction): readonly Column<AuditItem>[] {
  return [
    {
      head: { hidden: t('audit.details') },
      width: 40,
      cell: (item, row) => <Unfold item={item} {...row} />,
    },
    {
      head: t('audit.time'),
      width: 190,
      cell: (item) => (
        <>
          <Moment at={item.occurred_at} relative={false} />
          <Last item={item} />
        </>
      ),
    },
    { head: t('audit.action'), width: 240, cell: (item) => <Action item={item} /> },
    { head: t('audit.by'), cell: (item) => <Actor item={item} /> },
    { head: t('audit.subject'), cell: (item) => <Subject item={item} /> },
    { head: t('audit.ip'), width: 130, cell: (item) => <Source item={item} /> },
  ];
}

const detailsOf = (item: AuditItem) => <Details item={item} />;

const narrowOf = (item: AuditItem, row: RowState) => (
  <Group gap={4} wrap="nowrap" align="flex-start">
    <Unfold item={item} {...row} />
    <Stack gap={2} miw={0} flex={1}>
      <Group justify="space-between" gap="xs">
        <Action item={item} />
        <Moment at={item.occurred_at} />
      </Group>
      <Last item={item} />
      <Actor item={item} />
      <Group gap="md">
        <Subject item={item} />
        <Source item={item} />
      </Group>
    </Stack>
  </Group>
);

function Unfold({ item, isOpen, toggle }: { item: AuditItem } & RowState) {
  const { t } = useTranslation();
  return (
    <ActionIcon
      size="sm"
      onClick={toggle}
      aria-expanded={isOpen}
      aria-label={t('audit.showDetails', { id: item.id })}
    >
      <ChevronRight size={14} style={{ rotate: isOpen ? '90deg' : '0deg' }} />
    </ActionIcon>
  );
}

/** The last occurrence of a repeated action. */
function Last({ item: { repeats, last_occurred_at: last } }: { item: AuditItem }) {
  const { t } = useTranslation();
  return repeats === 1 || last === null ? null : (
    <Hint>
      {t('audit.last')} <Moment at={last} relative={false} />
    </Hint>
  );
}

/** The action's label and count; the recorded name on hover. */
function Action({ item: { action, repeats } }: { item: AuditItem }) {
  const { t } = useTranslation();
  const textOf = useActionText();
  return (
    <Text size="sm" truncate title={action}>
      {repeats > 1 ? t('audit.repeated', { action: textOf(action), times: repeats }) : textOf(action)}
    </Text>
  );
}

function Actor({ item }: { item: AuditItem }) {
  const { t } = useTranslation();
  const { actor, actor_name: name } = item;
  if (name === null) {
    return <Muted truncate>{t(`audit.actorName.${actor}`)}</Muted>;
  }
  const shown = actor === 'api_key' ? keyText(item, t) : name;
  return (
    <Text size="sm" truncate title={shown}>
      {shown}
    </Text>
  );
}

/** The entry's subject; empty if it is the actor. */
function Subject({ item }: { item: AuditItem }) {
  const { t } = useTranslation();
  const shown = subjectOf(item, t);
  return shown === null ? null : (
    <Text size="sm" truncate title={shown}>
      {shown}
    </Text>
  );
}

function subjectOf(item: AuditItem, t: TFunction): string | null {
  const { actor, actor_name: by, api_key: key, member, details } = item;
  if (key !== null && actor !== 'api_key') return keyText(item, t);
  const { name, workflow_id: workflowId, execution_id: executionId, email } = details;
  if (typeof name === 'string') return name;
  if (typeof email === 'string') return email;
  if (member !== null && member.email !== by) return member.email;
  if (typeof executionId === 'number') return t('audit.execution', { id: executionId });
  return typeof workflowId === 'number' ? t('audit.workflow', { id: workflowId }) : null;
}

/** Names aren't unique: the last four characters identify the key. */
function keyText({ api_key: key }: AuditItem, t: TFunction): string {
  return t('audit.key', { name: key?.name ?? '', end: key?.last_four ?? '' });
}

function Source({ item: { source_ip: ip } }: { item: AuditItem }) {
  return ip === null ? null : (
    <Text size="xs" ff="monospace" truncate title={ip}>
      {ip}
    </Text>
  );
}

/** The recorded entry and the request it came from. */
function Details({ item }: { item: AuditItem }) {
  const { t } = useTranslation();
  const text = JSON.stringify(item.details, null, 2);
  return (
    <Stack gap={4} pl={{ base: 0, md: 40 }} py={4}>
      <Group gap="xs">
        <Hint>
          {t('audit.rawName')} <Code fz="xs">{item.action}</Code>
        </Hint>
        {item.request_id !== null && (
          <Hint>
            {t('audit.request')} <Code fz="xs">{item.request_id}</Code>
          </Hint>
        )}
        <CopyIcon text={text} />
      </Group>
      <Code block fz="xs" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {text}
      </Code>
    </Stack>
  );
}
