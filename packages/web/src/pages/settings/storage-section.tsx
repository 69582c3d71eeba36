import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { QueryState } from '@millrace/ui/components/paged-list.tsx';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { StorageBars } from '../storage/storage-bars.tsx';
import { SectionFrame } from './section.tsx';

/** What the organisation stores; there is nothing to change. */
export function StorageSection() {
  const { t } = useTranslation();
  const org = useOrg();
  const storage = useQuery(endpointQuery('GET /orgs/:org/storage', { params: { org } }));
  return (
    <SectionFrame title={t('storage.title')} about={t('storage.about')}>
      <QueryState query={storage} />
      {storage.isSuccess && <StorageBars parts={storage.data.parts} />}
    </SectionFrame>
  );
}
