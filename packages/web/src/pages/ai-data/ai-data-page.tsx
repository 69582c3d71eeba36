import '@millrace/ui/i18n/parts/stored.ts';
import { Tabs } from '@mantine/core';
import { useFilters } from '@millrace/ui/api/search-params.ts';
import { Page } from '@millrace/ui/components/page.tsx';
import { useTranslation } from 'react-i18next';
import { readAiDataSearch } from './ai-data-search.ts';
import { Collections } from './collections.tsx';
import { Conversations } from './conversations.tsx';

/** What an organisation stores for models. */
export function AiDataPage() {
  const { t } = useTranslation();
  const [{ tab = 'collections', search }, apply] = useFilters(readAiDataSearch);
  return (
    <Page title={t('stored.title')} description={t('stored.about')}>
      <Tabs
        value={tab}
        onChange={(next) =>
          apply({ tab: next === 'conversations' ? 'conversations' : undefined, search: undefined })
        }
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="collections">{t('stored.collections')}</Tabs.Tab>
          <Tabs.Tab value="conversations">{t('stored.conversations')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="collections" pt="sm">
          <Collections />
        </Tabs.Panel>
        <Tabs.Panel value="conversations" pt="sm">
          <Conversations search={search} onSearch={(text) => apply({ search: text })} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
