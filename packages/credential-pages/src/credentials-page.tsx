import '@millrace/ui/i18n/parts/credentials.ts';
import '@millrace/ui/i18n/parts/forms.ts';
import { Button, Group, Stack, Text, Tooltip } from '@mantine/core';
import type { Credential } from '@millrace/admin-api';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { DataTable } from '@millrace/ui/components/data-table.tsx';
import { IconBadge } from '@millrace/ui/components/icon-badge.tsx';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { titleOfType } from '@millrace/ui/i18n/credential-types.ts';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { LockKeyhole, Plus, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { readConnectionSearch } from './connection-search.ts';
import { ConnectionBadge, ConnectionNotices } from './connection-state.tsx';
import { CredentialActions } from './credential-actions.tsx';
import { targetOf } from './credential-text.ts';

/** Its form is as large as a page. */
const CredentialDialog = lazyPart(async () => (await import('./credential-dialog.tsx')).CredentialDialog);

/** Credentials that workflows use for other services. */
export function CredentialsPage() {
  const { t } = useTranslation();
  const org = useOrg();
  const [isAdding, setIsAdding] = useState(false);
  const list = useQuery(endpointQuery('GET /orgs/:org/credentials', { params: { org } }));
  const { can } = useRole();
  const { connection } = readConnectionSearch(useSearch({ strict: false }));
  const add = can('editor') && (
    <Button leftSection={<Plus size={14} aria-hidden />} onClick={() => setIsAdding(true)}>
      {t('credentials.add')}
    </Button>
  );
  return (
    <Page title={t('credentials.title')} description={t('credentials.about')} actions={add}>
      <ConnectionNotices items={list.data?.items ?? []} result={connection} />
      <QueryState query={list} />
      {list.isSuccess && list.data.items.length === 0 && (
        <EmptyState icon={LockKeyhole} title={t('credentials.empty')} action={add}>
          {t('credentials.emptyHint')}
        </EmptyState>
      )}
      {list.isSuccess && list.data.items.length > 0 && <CredentialTable items={list.data.items} />}
      {isAdding && <CredentialDialog credential={null} onClose={() => setIsAdding(false)} />}
    </Page>
  );
}

/** The credentials as a table, or as a list in a narrow window. */
function CredentialTable({ items }: { items: readonly Credential[] }) {
  const { t } = useTranslation();
  return (
    <DataTable
      items={items}
      columns={[
        { head: t('credentials.name'), cell: (item) => <NameCell item={item} /> },
        { head: t('credentials.type'), width: 180, cell: ({ type }) => <TypeName type={type} /> },
        { head: t('credentials.goesTo'), width: 230, cell: (item) => <Target item={item} /> },
        { head: t('credentials.lastUse'), width: 115, cell: (item) => <LastUse item={item} /> },
        { head: t('credentials.updated'), width: 115, cell: (item) => <Moment at={item.updated_at} /> },
      ]}
      actions={(item) => <CredentialActions item={item} />}
      actionsWidth={120}
      narrow={(item) => <NarrowRow item={item} />}
    />
  );
}

function NarrowRow({ item }: { item: Credential }) {
  const { t } = useTranslation();
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <NameCell item={item} />
        <CredentialActions item={item} />
      </Group>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <TypeName type={item.type} />
        <Group gap={4} wrap="nowrap">
          {item.last_used_at !== null && <Hint>{t('credentials.lastUse')}</Hint>}
          <LastUse item={item} />
        </Group>
      </Group>
      <Target item={item} />
    </>
  );
}

function NameCell({ item }: { item: Credential }) {
  const { t } = useTranslation();
  const { id, name, created_by: by, needs_secret: needsSecret } = item;
  return (
    <Stack gap={0} miw={0}>
      <Group gap={6} wrap="nowrap">
        <Text size="sm" fw={500} truncate title={name}>
          {name}
        </Text>
        {needsSecret && (
          <IconBadge icon={TriangleAlert} color="orange" hint={t('credentials.needsSecretHint')} tabIndex={0}>
            {t('credentials.needsSecret')}
          </IconBadge>
        )}
        <ConnectionBadge item={item} />
      </Group>
      <Hint truncate>
        #{id}
        {by !== null && ` · ${t('credentials.createdBy', { email: by })}`}
      </Hint>
    </Stack>
  );
}

function TypeName({ type }: { type: string }) {
  const { t } = useTranslation();
  return (
    <Text size="sm" truncate>
      {titleOfType(type, t)}
    </Text>
  );
}

function Target({ item }: { item: Credential }) {
  const { t } = useTranslation();
  const target = targetOf(item);
  if (target === null) {
    return <Muted truncate>{item.type === 'secret' ? t('credentials.neverSent') : '—'}</Muted>;
  }
  if (target === '*') {
    return (
      <Tooltip label={t('credentials.anyHostWarning')} multiline maw={280}>
        <Group gap={4} wrap="nowrap" c="var(--mantine-color-orange-light-color)" tabIndex={0}>
          <TriangleAlert size={12} aria-hidden />
          <Text size="sm">{t('credentials.everyHost')}</Text>
        </Group>
      </Tooltip>
    );
  }
  return (
    <Text size="sm" truncate title={target} ff="monospace" fz="xs">
      {target}
    </Text>
  );
}

function LastUse({ item: { last_used_at: at } }: { item: Credential }) {
  const { t } = useTranslation();
  return at === null ? (
    <Muted style={{ whiteSpace: 'nowrap' }}>{t('credentials.neverUsed')}</Muted>
  ) : (
    <Moment at={at} />
  );
}
