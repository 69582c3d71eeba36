import { Group, Stack, Text } from '@mantine/core';
import type { VectorCollection } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { type Column, DataTable, type RowState } from '@millrace/ui/components/data-table.tsx';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { EmptyState } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useQuery } from '@tanstack/react-query';
import { Layers } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { formatBytes } from '../system/format.ts';
import { DeleteButton } from './delete-button.tsx';
import { Items } from './items.tsx';
import { TemplatesLink } from './templates-link.tsx';
import { Unfold } from './unfold.tsx';

/** While an index is being filled. */
const REFRESH_MS = 10_000;

type Listed = VectorCollection & { readonly id: string };

/** Collections of texts with their vectors, and what is in them. */
export function Collections() {
  const { t, i18n } = useTranslation();
  const query = useQuery({
    ...endpointQuery('GET /orgs/:org/vector-collections', { params: { org: useOrg() } }),
    refetchInterval: ({ state }) => (state.data?.items.some(isUnderWay) === true ? REFRESH_MS : false),
  });
  const items = useMemo(
    () => query.data?.items.map((item) => ({ ...item, id: item.name })) ?? [],
    [query.data],
  );
  const columns = useMemo((): readonly Column<Listed>[] => {
    const number = (value: number) => value.toLocaleString(i18n.language);
    return [
      {
        head: { hidden: t('stored.contents') },
        width: 44,
        cell: (item, row) => <Open item={item} {...row} />,
      },
      { head: t('stored.name'), cell: ({ name }) => <Name>{name}</Name> },
      { head: t('stored.model'), width: 160, cell: ({ model }) => <Name>{model}</Name> },
      { head: t('stored.dimension'), width: 100, isNumber: true, cell: ({ dimension }) => number(dimension) },
      { head: t('stored.items'), width: 90, isNumber: true, cell: (item) => number(item.items) },
      {
        head: t('stored.size'),
        width: 90,
        isNumber: true,
        cell: ({ bytes }) => formatBytes(bytes, i18n.language),
      },
      { head: t('stored.index'), width: 180, cell: (item) => <IndexState item={item} /> },
      { head: t('stored.written'), width: 130, cell: ({ updated_at: at }) => <Moment at={at} /> },
      { head: { hidden: t('common.actions') }, width: 52, cell: (item) => <DeleteCollection item={item} /> },
    ];
  }, [t, i18n.language]);
  return (
    <>
      <QueryState query={query} />
      {query.isSuccess && items.length === 0 && (
        <EmptyState
          icon={Layers}
          title={t('stored.noCollections')}
          action={<TemplatesLink node={t('stored.vectorNode')} />}
        >
          {t('stored.noCollectionsHint')}
        </EmptyState>
      )}
      {items.length > 0 && (
        <DataTable
          items={items}
          columns={columns}
          details={({ name }) => <Items collection={name} />}
          narrow={(item, row) => <Narrow item={item} {...row} />}
          narrowBelow="75em"
          aria-label={t('stored.collections')}
        />
      )}
    </>
  );
}

/** An index that will be there soon. */
function isUnderWay({ index }: VectorCollection): boolean {
  return index === 'building' || index === 'waiting';
}

/** Whether searches are quick, and why not. */
function IndexState({ item }: { item: Listed }) {
  return (
    <Text size="sm" {...(item.index === 'ready' || isUnderWay(item) ? {} : { c: 'dimmed' })}>
      <IndexText item={item} />
    </Text>
  );
}

function IndexText({ item: { index, indexed, items } }: { item: Listed }) {
  const { t, i18n } = useTranslation();
  const share = new Intl.NumberFormat(i18n.language, { style: 'percent' });
  // Rounded down: all of it is only in one that is ready.
  return t(`stored.indexes.${index}`, { share: share.format(Math.floor((100 * indexed) / items) / 100) });
}

function Name({ children }: { children: string }) {
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {children}
    </Text>
  );
}

function Open({ item, ...row }: { item: Listed } & RowState) {
  const { t } = useTranslation();
  return <Unfold label={t('stored.open', { name: item.name })} {...row} />;
}

function Narrow({ item, ...row }: { item: Listed } & RowState) {
  const { t, i18n } = useTranslation();
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <Open item={item} {...row} />
      <Stack gap={2} miw={0} flex={1}>
        <Name>{item.name}</Name>
        <Hint>
          {item.model} · {t('stored.dimension')} {item.dimension} · {t('stored.items')}{' '}
          {item.items.toLocaleString(i18n.language)} · {formatBytes(item.bytes, i18n.language)} ·{' '}
          <Moment at={item.updated_at} />
        </Hint>
        <Hint>
          {t('stored.index')}: <IndexText item={item} />
        </Hint>
      </Stack>
      <DeleteCollection item={item} />
    </Group>
  );
}

function DeleteCollection({ item: { name, items } }: { item: Listed }) {
  const { t } = useTranslation();
  const params = { org: useOrg() };
  return (
    <DeleteButton
      label={t('stored.deleteCollection', { name })}
      action={t('stored.deleteAction')}
      typed={name}
      change={() => call('POST /orgs/:org/vector-collections/delete', { params, body: { name } })}
      done={({ deleted: count }) => t('stored.deleted', { count })}
      refreshes={['GET /orgs/:org/vector-collections', 'GET /orgs/:org/vector-items']}
    >
      {t('stored.deleteCollectionAbout', { count: items })}
    </DeleteButton>
  );
}
