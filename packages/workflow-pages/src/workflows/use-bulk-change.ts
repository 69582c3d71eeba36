import type { Body, ResponseBody, WorkflowItem } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { notifyDone } from '@millrace/ui/components/notify.ts';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { useTranslation } from 'react-i18next';

const ENDPOINT = 'POST /orgs/:org/workflow-changes';
type Change = Body<typeof ENDPOINT>['change'];
type Outcome = ResponseBody<typeof ENDPOINT>;

/** What the service accepts at once. */
const AT_ONCE = 200;

/** Why some weren't changed, with their names. */
export type Refusals = ReadonlyMap<string, readonly string[]>;

/** Changes workflows; those that refuse are returned by reason. */
export function useBulkChange(items: readonly Pick<WorkflowItem, 'id' | 'name'>[]) {
  const { t } = useTranslation();
  const org = useOrg();
  const names = new Map(items.map(({ id, name }) => [id, name]));
  const change = useChange(
    async (wanted: Change): Promise<Outcome> => {
      let done = 0;
      const refused: Outcome['refused'][number][] = [];
      const ids = [...names.keys()];
      for (let from = 0; from < ids.length; from += AT_ONCE) {
        const body = { ids: ids.slice(from, from + AT_ONCE), change: wanted };
        const outcome = await call(ENDPOINT, { params: { org }, body });
        done += outcome.done;
        refused.push(...outcome.refused);
      }
      return { done, refused };
    },
    {
      refreshes: ['GET /orgs/:org/workflows', 'GET /orgs/:org/workflows/:id', 'GET /orgs/:org/workflow-tags'],
      onSuccess: ({ done }, { kind }) => {
        if (done > 0) notifyDone(t(`folders.bulk.done.${kind}`, { count: done }));
      },
    },
  );
  const refusals: Refusals = new Map(
    [...Map.groupBy(change.data?.refused ?? [], translateMessage)].map(([reason, refused]) => [
      reason,
      refused.map(({ id }) => names.get(id) ?? `#${id}`),
    ]),
  );
  return { change, refusals };
}
