import type { Database } from '@millrace/database/database';
import { takeLock } from '@millrace/database/locks';
import { ApiError, notFound } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { countOtherViews, deleteView, findView, putView, type ViewRow } from './view-store.ts';

/** A longer menu would be useless, and each view has at most 4,000 bytes, so this isn't a setting. */
export const MAX_OWN_VIEWS = 50;
export const MAX_SHARED_VIEWS = 100;

/** Stores a view, or replaces the person's view of that name. @throws ApiError `too_many_views` */
export async function saveView(
  db: Database,
  organisationId: number,
  view: Omit<ViewRow, 'id'>,
): Promise<ViewRow> {
  return db.forOrganisation(organisationId, async (tx) => {
    // Keeps the count of views valid until one is added.
    await takeLock(tx, `views ${organisationId}`);
    const { own, shared } = await countOtherViews(tx, organisationId, view.user_id, view.name);
    if (own >= MAX_OWN_VIEWS) {
      throw new ApiError('too_many_views', message('service.too_many_views', { max: MAX_OWN_VIEWS }));
    }
    if (view.is_shared && shared >= MAX_SHARED_VIEWS) {
      const explanation = message('service.too_many_shared_views', { max: MAX_SHARED_VIEWS });
      throw new ApiError('too_many_views', explanation);
    }
    return putView(tx, organisationId, view);
  });
}

/**
 * Deletes one's own view, or a shared one.
 * @param mayDeleteShared whether the person may delete what others share
 * @throws ApiError `not_found`
 */
export async function removeView(
  db: Database,
  organisationId: number,
  id: number,
  { userId, mayDeleteShared }: { readonly userId: number; readonly mayDeleteShared: boolean },
): Promise<void> {
  await db.forOrganisation(organisationId, async (tx) => {
    const view = await findView(tx, organisationId, id);
    const isTheirs = view?.user_id === userId || (view?.is_shared === true && mayDeleteShared);
    if (!isTheirs) throw notFound('view');
    await deleteView(tx, organisationId, id);
  });
}
