import type { Database } from '@millrace/database/database';
import { tryAlertLock } from './incident-store.ts';
import { insertMessage, lockTellingRules, postponeMessage, type TellingRule } from './message-store.ts';
import { endOfQuietHours } from './quiet-hours.ts';

/** Rules in one transaction. */
const RULES_AT_ONCE = 100;
/** When an organisation that has had its messages of the hour is looked at again. */
const LIMITED_MS = 60_000;

/**
 * Makes messages of what no message has reported yet: one for each rule whose interval is over, outside of its quiet hours, as long as the
 * organisation has not had all its messages of this hour. Everything else waits for a later one.
 */
export async function composeMessages(
  db: Database,
  { messagesPerHour }: { readonly messagesPerHour: number },
  isStopping: () => boolean = () => false,
): Promise<void> {
  for (let hasMore = true; hasMore && !isStopping(); ) {
    hasMore = await db.transaction(async (tx) => {
      if (!(await tryAlertLock(tx))) return false;
      const rules = await lockTellingRules(tx, RULES_AT_ONCE);
      const sentBy = new Map(rules.map((rule) => [rule.organisation_id, rule.sent_this_hour]));
      for (const rule of rules) {
        const sent = sentBy.get(rule.organisation_id) ?? 0;
        const untilMs = sent >= messagesPerHour ? rule.now_ms + LIMITED_MS : endOfQuiet(rule);
        if (untilMs !== null) {
          await postponeMessage(tx, rule.id, new Date(untilMs));
          continue;
        }
        await insertMessage(tx, rule.id);
        sentBy.set(rule.organisation_id, sent + 1);
      }
      return rules.length === RULES_AT_ONCE;
    });
  }
}

function endOfQuiet({
  quiet_from: from,
  quiet_to: to,
  time_zone: zone,
  now_ms: nowMs,
}: TellingRule): number | null {
  return from === null || to === null ? null : endOfQuietHours(nowMs, zone ?? 'UTC', { from, to });
}
