import { Anchor, Code, Group, Stack, Text } from '@mantine/core';
import type { VectorItem } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { FilterInput } from '@millrace/ui/components/filter-input.tsx';
import { PagedList } from '@millrace/ui/components/paged-list.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatBytes } from '../system/format.ts';
import { DeleteButton } from './delete-button.tsx';

const PAGE_SIZE = 20;

/** The texts of a collection. */
export function Items({ collection }: { collection: string }) {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const list = usePages(
    'GET /orgs/:org/vector-items',
    {
      params: { org: useOrg() },
      query: { collection, limit: PAGE_SIZE, ...(search === '' ? {} : { search }) },
    },
    { keepsPrevious: true },
  );
  const nothing = search === '' ? t('stored.noItems') : t('stored.nothingFound');
  return (
    <Stack gap="xs" py="xs" pl={{ base: 0, sm: 'lg' }} component="section" aria-label={collection}>
      <FilterInput
        aria-label={t('stored.search')}
        placeholder={t('stored.search')}
        value={search}
        onApply={setSearch}
        clearLabel={t('stored.clear')}
        maw={360}
      />
      <PagedList
        list={list}
        rows={3}
        empty={<Hint>{list.hasNextPage ? t('stored.moreToSearch') : nothing}</Hint>}
      >
        {(items) => (
          <Stack gap="sm" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
            {items.map((item) => (
              <Item key={item.key} collection={collection} item={item} />
            ))}
          </Stack>
        )}
      </PagedList>
    </Stack>
  );
}

function Item({ collection, item }: { collection: string; item: VectorItem }) {
  const { t, i18n } = useTranslation();
  const { key, text, is_cut: isCut, metadata, bytes, updated_at: at } = item;
  const [isWhole, setIsWhole] = useState(false);
  const params = { org: useOrg() };
  const whole = useQuery({
    ...endpointQuery('GET /orgs/:org/vector-items/text', { params, query: { collection, key } }),
    enabled: isWhole,
  });
  return (
    <Group component="li" gap="xs" wrap="nowrap" align="flex-start" justify="space-between">
      <Stack gap={2} miw={0}>
        <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {key}
        </Text>
        <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {whole.data?.text ?? text}
          {isCut && whole.data === undefined && '…'}
        </Text>
        {isCut && !isWhole && (
          <Anchor component="button" size="xs" w="fit-content" onClick={() => setIsWhole(true)}>
            {t('stored.whole')}
          </Anchor>
        )}
        {Object.keys(metadata).length > 0 && (
          <Code style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap', width: 'fit-content' }}>
            {JSON.stringify(metadata)}
          </Code>
        )}
        <Hint>
          {formatBytes(bytes, i18n.language)} · <Moment at={at} />
        </Hint>
      </Stack>
      <DeleteItem collection={collection} name={key} />
    </Group>
  );
}

function DeleteItem({ collection, name: key }: { collection: string; name: string }) {
  const { t } = useTranslation();
  const params = { org: useOrg() };
  return (
    <DeleteButton
      label={t('stored.deleteItem', { name: key })}
      action={t('stored.deleteAction')}
      change={() => call('POST /orgs/:org/vector-items/delete', { params, body: { collection, key } })}
      done={({ deleted: count }) => t('stored.deleted', { count })}
      refreshes={['GET /orgs/:org/vector-collections', 'GET /orgs/:org/vector-items']}
    >
      {t('stored.deleteItemAbout')}
    </DeleteButton>
  );
}
