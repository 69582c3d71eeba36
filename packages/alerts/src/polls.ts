import type { Queryable } from '@millrace/database/database';
import type { FailingPoll } from '@millrace/polling/poll';
import { readDatabaseTime } from '@millrace/runtime/statements';
import { listFailureRules, recordIncidents } from './incident-store.ts';
import { groupOccurrences } from './judge.ts';

/** Records for the rules about failures that a workflow can't be started, in the transaction that records the failed poll. */
export async function notePollFailure(tx: Queryable, failing: FailingPoll): Promise<void> {
  const { organisationId, workflowId, workflowName: name, error } = failing;
  const rules = await listFailureRules(tx, organisationId, workflowId);
  if (rules.length === 0) return;
  const at = new Date(await readDatabaseTime(tx));
  const subject = `workflow:${workflowId}`;
  const occurrence = { organisationId, subject, name, workflowId, executionId: null, error, at };
  await recordIncidents(tx, groupOccurrences(rules.map((ruleId) => ({ ...occurrence, ruleId }))));
}
