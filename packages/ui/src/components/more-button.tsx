import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** Shows the next page of a list; nothing when there is none. */
export function MoreButton({
  list,
}: {
  list: { readonly hasNextPage: boolean; readonly isFetchingNextPage: boolean; fetchNextPage(): unknown };
}) {
  const { t } = useTranslation();
  if (!list.hasNextPage) return null;
  return (
    <Button
      variant="default"
      mx="auto"
      mt="sm"
      display="block"
      loading={list.isFetchingNextPage}
      onClick={() => list.fetchNextPage()}
    >
      {t('common.loadMore')}
    </Button>
  );
}
