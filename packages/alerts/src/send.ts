import type { AlertTarget } from '@millrace/admin-api';
import { type NodeResult, parseJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { type DeliveryDeps, deliver, thrown } from './deliver.ts';
import {
  type AttemptOutcome,
  type ClaimedMessage,
  claimMessage,
  countIncidents,
  finishAttempt,
  insertTestMessage,
  listIncidents,
  releaseMessage,
} from './message-store.ts';
import { type AlertContent, alertPayload, alertText } from './texts.ts';

export interface SendDeps extends DeliveryDeps {
  /** Base of links, without a trailing slash. */
  readonly publicUrl: () => string;
}

/** How long a process may take for an attempt before another one may try. Longer than any node's time limit. */
const CLAIM_MS = 120_000;
const ATTEMPT_MS = 60_000;
/** Before the second attempt, the third and so on; after the last one it is given up. */
const RETRY_MS = [30, 120, 600, 1_800, 3_600, 10_800, 21_600].map((seconds) => seconds * 1000);
/** Incidents described in a message: some services refuse long ones. */
const MAX_INCIDENTS = 10;
/** Messages that this process sends at the same time, of one organisation each. */
const PARALLEL = 4;

/** Sends what is due, until nothing is or it has to stop. */
export async function sendDueMessages(
  deps: SendDeps,
  isStopping: () => boolean = () => false,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const sendOneAfterAnother = async (): Promise<void> => {
    while (!isStopping()) {
      const claimed = await claimMessage(deps.db, CLAIM_MS);
      if (claimed === undefined) return;
      // The claim was under way when the process was told to stop.
      if (isStopping()) return releaseMessage(deps.db, claimed);
      await attempt(deps, claimed, signal);
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: PARALLEL }, sendOneAfterAnother));
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

/** Sends a test of a rule, now and once. @returns the id of the message */
export async function sendTestMessage(
  deps: SendDeps,
  organisationId: number,
  ruleId: number,
): Promise<number> {
  const claimed = await deps.db.forOrganisation(organisationId, (tx) =>
    insertTestMessage(tx, ruleId, CLAIM_MS),
  );
  await attempt(deps, claimed, new AbortController().signal);
  return claimed.id;
}

async function attempt(deps: SendDeps, claimed: ClaimedMessage, signal: AbortSignal): Promise<void> {
  const result = claimed.rule_id === null ? null : await send(deps, claimed, claimed.rule_id, signal);
  // The process stops: the message is tried again, and this attempt says nothing about it.
  if (signal.aborted && result?.kind === 'failure') {
    await finishAttempt(deps.db, claimed, STOPPED);
    return;
  }
  const outcome = result === null ? GONE : outcomeOf(result, claimed);
  const isStored = await finishAttempt(deps.db, claimed, outcome);
  if (!isStored || outcome.error === null) return;
  const { code, message: said } = outcome.error;
  const about = { alert_id: claimed.id, organisation_id: claimed.organisation_id, rule_id: claimed.rule_id };
  const fate = outcome.retryMs === null ? 'gave up an alert' : 'could not send an alert; it is tried again';
  deps.log.warn({ ...about, attempts: claimed.attempts, code, reason: inEnglish(said) }, fate);
}

const STOPPED: AttemptOutcome = {
  error: { code: 'aborted', message: message('alert.stopped') },
  retryMs: 0,
};
const GONE: AttemptOutcome = {
  error: { code: 'alert_rule_deleted', message: message('alert.rule_deleted') },
  retryMs: null,
};

async function send(
  deps: SendDeps,
  claimed: ClaimedMessage,
  ruleId: number,
  signal: AbortSignal,
): Promise<NodeResult> {
  try {
    const content = await readContent(deps, claimed);
    return await deliver(deps, {
      organisationId: claimed.organisation_id,
      channel: claimed.channel,
      target: parseJson(claimed.target) as AlertTarget,
      text: alertText(content),
      payload: alertPayload(content, ruleId),
      key: `alert-${claimed.id}`,
      at: claimed.created_at,
      isDryRun: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]),
    });
  } catch (error) {
    deps.log.error({ err: error, alert_id: claimed.id }, 'could not send an alert');
    return thrown(error);
  }
}

async function readContent({ db, publicUrl }: SendDeps, claimed: ClaimedMessage): Promise<AlertContent> {
  const incidents = await listIncidents(db, [claimed.id], MAX_INCIDENTS);
  const all = incidents.length < MAX_INCIDENTS ? incidents.length : await countIncidents(db, claimed.id);
  return {
    ruleName: claimed.rule_name,
    kind: claimed.kind,
    isTest: claimed.is_test,
    threshold: claimed.threshold,
    seconds: claimed.seconds,
    organisationId: claimed.organisation_id,
    language: claimed.language,
    incidents,
    more: all - incidents.length,
    publicUrl: publicUrl(),
  };
}

/** A test is tried once, because somebody waits for it. */
function outcomeOf(result: NodeResult, { attempts, is_test: isTest }: ClaimedMessage): AttemptOutcome {
  if (result.kind !== 'failure') return { error: null, retryMs: null };
  const pauseMs = RETRY_MS[attempts - 1];
  const mayRetry = result.retryable && pauseMs !== undefined && !isTest;
  return {
    error: { code: result.code, message: result.message },
    retryMs: mayRetry ? Math.max(pauseMs, result.retryAfterMs ?? 0) : null,
  };
}
