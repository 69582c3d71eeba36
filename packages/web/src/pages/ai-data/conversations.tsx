import { Group, Stack, Text } from '@mantine/core';
import type { WorkflowMemory } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { type Column, DataTable, type RowState } from '@millrace/ui/components/data-table.tsx';
import { FilterInput } from '@millrace/ui/components/filter-input.tsx';
import { PagedList, QueryState } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useQuery } from '@tanstack/react-query';
import { MessagesSquare, SearchX } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { formatBytes } from '../system/format.ts';
import { DeleteButton } from './delete-button.tsx';
import { TemplatesLink } from './templates-link.tsx';
import { Unfold } from './unfold.tsx';

type Listed = WorkflowMemory & { readonly id: string };

/** What models remember of conversations, in all workflows. */
export function Conversations({
  search,
  onSearch,
}: {
  search: string | undefined;
  onSearch: (text: string) => void;
}) {
  const { t, i18n } = useTranslation();
  const pages = usePages(
    'GET /orgs/:org/memories',
    { params: { org: useOrg() }, query: search === undefined ? {} : { search } },
    { keepsPrevious: true },
  );
  const columns = useMemo(
    (): readonly Column<Listed>[] => [
      {
        head: { hidden: t('stored.contents') },
        width: 44,
        cell: (item, row) => <Open item={item} {...row} />,
      },
      { head: t('stored.session'), cell: ({ key }) => <Key>{key}</Key> },
      { head: t('stored.workflow'), cell: ({ workflow }) => workflow.name },
      { head: t('stored.messages'), width: 110, isNumber: true, cell: ({ turns }) => turns },
      {
        head: t('stored.size'),
        width: 90,
        isNumber: true,
        cell: ({ bytes }) => formatBytes(bytes, i18n.language),
      },
      { head: t('stored.used'), width: 140, cell: ({ updated_at: at }) => <Moment at={at} /> },
      { head: t('stored.until'), width: 140, cell: ({ expires_at: at }) => <Moment at={at} /> },
      { head: { hidden: t('common.actions') }, width: 52, cell: (item) => <Forget item={item} /> },
    ],
    [t, i18n.language],
  );
  return (
    <Stack gap="sm">
      <FilterInput
        aria-label={t('stored.searchConversations')}
        placeholder={t('stored.searchConversations')}
        value={search}
        onApply={onSearch}
        clearLabel={t('stored.clear')}
        maw={360}
      />
      <PagedList list={pages} empty={<Nothing isSearch={search !== undefined} />}>
        {(items) => (
          <DataTable
            items={items.map((item) => ({ ...item, id: `${item.workflow.id} ${item.key}` }))}
            columns={columns}
            details={(item) => <Turns item={item} />}
            narrow={(item, row) => <Narrow item={item} {...row} />}
            narrowBelow="62em"
            aria-label={t('stored.conversations')}
          />
        )}
      </PagedList>
    </Stack>
  );
}

function Nothing({ isSearch }: { isSearch: boolean }) {
  const { t } = useTranslation();
  if (isSearch) return <EmptyState icon={SearchX} title={t('stored.nothingFound')} />;
  return (
    <EmptyState
      icon={MessagesSquare}
      title={t('stored.noConversations')}
      action={<TemplatesLink node={t('stored.chatNode')} />}
    >
      {t('stored.noConversationsHint')}
    </EmptyState>
  );
}

function Key({ children }: { children: string }) {
  return (
    <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
      {children}
    </Text>
  );
}

function Open({ item, ...row }: { item: Listed } & RowState) {
  const { t } = useTranslation();
  return <Unfold label={t('stored.openConversation', { name: item.key })} {...row} />;
}

function Narrow({ item, ...row }: { item: Listed } & RowState) {
  const { t } = useTranslation();
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <Open item={item} {...row} />
      <Stack gap={2} miw={0} flex={1}>
        <Key>{item.key}</Key>
        <Hint>
          {item.workflow.name} · {t('stored.messages')} {item.turns} · <Moment at={item.updated_at} />
        </Hint>
      </Stack>
      <Forget item={item} />
    </Group>
  );
}

/** What was said, oldest first. */
function Turns({ item: { workflow, key } }: { item: Listed }) {
  const { t } = useTranslation();
  const params = { org: useOrg(), id: workflow.id };
  const query = useQuery(
    endpointQuery('GET /orgs/:org/workflows/:id/memories/turns', { params, query: { key } }),
  );
  return (
    <Stack gap="xs" py="xs" pl={{ base: 0, sm: 'lg' }} component="section" aria-label={key}>
      <QueryState query={query} rows={2} />
      {query.isSuccess && query.data.summary !== '' && (
        <Said by={t('stored.summary')}>{query.data.summary}</Said>
      )}
      {query.data?.turns.map(({ user, assistant }, index) => (
        <Stack key={index} gap="xs">
          <Said by={t('stored.person')}>{user}</Said>
          <Said by={t('stored.assistant')}>{assistant}</Said>
        </Stack>
      ))}
    </Stack>
  );
}

function Said({ by, children }: { by: string; children: string }) {
  return (
    <div>
      <Hint>{by}</Hint>
      <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {children}
      </Text>
    </div>
  );
}

function Forget({ item: { workflow, key } }: { item: Listed }) {
  const { t } = useTranslation();
  const params = { org: useOrg(), id: workflow.id };
  return (
    <DeleteButton
      label={t('stored.forget', { name: key })}
      action={t('stored.forgetAction')}
      change={() => call('POST /orgs/:org/workflows/:id/memories/forget', { params, body: { key } })}
      done={t('stored.forgotten')}
      refreshes={['GET /orgs/:org/memories', 'GET /orgs/:org/workflows/:id/memories']}
    >
      {t('stored.forgetAbout')}
    </DeleteButton>
  );
}
