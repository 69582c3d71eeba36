import type { Database, Queryable } from '@millrace/database/database';
import { storeError, stringifyJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import {
  lockRulesOfEnded,
  type NoticedRow,
  noticeExpiring,
  noticeRecovered,
  noticeSilent,
  noticeSlow,
  recordFailing,
  recordIncidents,
  saveRecentFailures,
  takeEnded,
  takeMarks,
  takeRulesToCheck,
  tryAlertLock,
} from './incident-store.ts';
import { groupOccurrences, type Judgement, judge, type Occurrence } from './judge.ts';
import { DISCONNECTED } from './texts.ts';

/** Executions judged in one transaction. */
const ENDED_AT_ONCE = 500;
/** Rules looked at in one transaction. */
const RULES_AT_ONCE = 50;
/** Between two looks for a rule at what no event tells. */
const CHECK_MS = 30_000;

/**
 * Records what executions that ended mean for the rules, and what the rules say of the present state, unless another process is doing
 * it. An event is deleted, and a state marked, in the transaction that records the incident: each is recorded once.
 */
export async function noticeIncidents(db: Database, isStopping: () => boolean = () => false): Promise<void> {
  for (const step of [noticeEnded, noticeStates]) {
    let hasMore = true;
    while (hasMore && !isStopping()) {
      hasMore = await db.transaction(async (tx) => (await tryAlertLock(tx)) && (await step(tx)));
    }
  }
}

/** @returns whether there may be more */
async function noticeEnded(tx: Queryable): Promise<boolean> {
  const ended = await takeEnded(tx, ENDED_AT_ONCE);
  if (ended.length === 0) return false;
  const rules = await lockRulesOfEnded(tx, [...new Set(ended.map((row) => row.organisation_id))]);
  const judged = judge(ended, rules);
  const slow = new Set(rules.filter(({ kind }) => kind === 'slow').map(({ id }) => id));
  await store(tx, { ...judged, occurrences: await withoutMarked(tx, judged.occurrences, slow) });
  return ended.length === ENDED_AT_ONCE;
}

async function store(tx: Queryable, { occurrences, failing, recentFailures }: Judgement): Promise<void> {
  if (occurrences.length > 0) await recordIncidents(tx, groupOccurrences(occurrences));
  if (failing.length > 0) await recordFailing(tx, failing);
  if (recentFailures.size > 0) await saveRecentFailures(tx, recentFailures);
}

/** Without the slow executions that were noticed while they ran. */
async function withoutMarked(
  tx: Queryable,
  occurrences: readonly Occurrence[],
  slowRules: ReadonlySet<number>,
): Promise<readonly Occurrence[]> {
  const slow = occurrences.filter(({ ruleId }) => slowRules.has(ruleId));
  if (slow.length === 0) return occurrences;
  const marked = await takeMarks(tx, slow);
  return occurrences.filter(
    ({ ruleId, executionId }) => !(slowRules.has(ruleId) && marked.has(`${ruleId} ${executionId}`)),
  );
}

/** @returns whether there may be more */
async function noticeStates(tx: Queryable): Promise<boolean> {
  const ruleIds = await takeRulesToCheck(tx, RULES_AT_ONCE, CHECK_MS);
  if (ruleIds.length === 0) return false;
  const noticed: NoticedRow[] = [];
  for (const notice of [noticeRecovered, noticeSlow, noticeSilent, noticeExpiring]) {
    noticed.push(...(await notice(tx, ruleIds)));
  }
  if (noticed.length > 0) await recordIncidents(tx, groupOccurrences(noticed.map(toOccurrence)));
  return ruleIds.length === RULES_AT_ONCE;
}

const DISCONNECTED_ERROR = stringifyJson(
  storeError({ code: DISCONNECTED, message: message('alert.disconnected'), nodeId: null }),
);

function toOccurrence(row: NoticedRow): Occurrence {
  return {
    ruleId: row.rule_id,
    organisationId: row.organisation_id,
    subject: row.subject,
    name: row.name,
    workflowId: row.workflow_id,
    executionId: row.execution_id,
    error: row.is_disconnected === true ? DISCONNECTED_ERROR : null,
    at: row.at,
  };
}
