import type { WorkflowItem } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { Star } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import classes from './favourite-button.module.css';

/** Marks a workflow as a favourite, for oneself. */
export function FavouriteButton({ item }: { item: Pick<WorkflowItem, 'id' | 'name' | 'is_favourite'> }) {
  const { t } = useTranslation();
  const org = useOrg();
  const change = useChange(
    (isFavourite: boolean) =>
      call('PUT /orgs/:org/workflows/:id/favourite', {
        params: { org, id: item.id },
        body: { is_favourite: isFavourite },
      }),
    { refreshes: ['GET /orgs/:org/workflows'] },
  );
  const isMarked = change.isPending ? change.variables : item.is_favourite;
  return (
    <IconButton
      icon={Star}
      label={t('folders.favouriteNamed', { name: item.name })}
      hint={isMarked ? t('folders.unmarkFavourite') : t('folders.markFavourite')}
      aria-pressed={isMarked}
      size="sm"
      color={isMarked ? 'yellow' : 'gray'}
      className={classes.star}
      onClick={() => change.mutate(!isMarked)}
    />
  );
}
