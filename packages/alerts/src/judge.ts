import type { AlertKind } from '@millrace/admin-api';

/** An execution that ended in a way that a rule may care about. */
export interface EndedExecution {
  readonly id: number;
  readonly organisation_id: number;
  readonly workflow_id: number;
  readonly workflow_name: string;
  readonly has_failed: boolean;
  /** JSON text; null unless it has failed. */
  readonly error: string | null;
  readonly completed_at: Date;
  /** Since its start. */
  readonly duration_ms: number | null;
}

/** An enabled rule, as far as ended executions concern it. */
export interface JudgedRule {
  readonly id: number;
  readonly organisation_id: number;
  readonly kind: AlertKind;
  readonly workflow_id: number | null;
  readonly threshold: number | null;
  readonly seconds: number | null;
  readonly since: Date;
  /** JSON text: epoch milliseconds of the last failures. */
  readonly recent_failures: string;
}

/** Something that a rule reports; equal subjects of a rule are reported together. */
export interface Occurrence {
  readonly ruleId: number;
  readonly organisationId: number;
  readonly subject: string;
  readonly name: string;
  readonly workflowId: number | null;
  readonly executionId: number | null;
  /** JSON text of an execution's error. */
  readonly error: string | null;
  readonly at: Date;
}

/** A workflow that a rule waits for to work again. */
export interface FailingWorkflow {
  readonly ruleId: number;
  readonly organisationId: number;
  readonly workflowId: number;
  readonly executionId: number;
}

export interface Judgement {
  readonly occurrences: readonly Occurrence[];
  readonly failing: readonly FailingWorkflow[];
  /** The times to store, by rule; only of rules that count failures. */
  readonly recentFailures: ReadonlyMap<number, readonly number[]>;
}

/** What each rule makes of executions that ended, in the order in which they did. */
export function judge(ended: readonly EndedExecution[], rules: readonly JudgedRule[]): Judgement {
  const occurrences: Occurrence[] = [];
  const failing = new Map<string, FailingWorkflow>();
  const recent = new Map<number, readonly number[]>();
  for (const execution of ended.toSorted((a, b) => +a.completed_at - +b.completed_at || a.id - b.id)) {
    for (const rule of rules) {
      if (!concerns(rule, execution) || !wentWrong(rule, execution)) continue;
      if (rule.kind === 'slow' || rule.kind === 'failure') {
        occurrences.push(occurrenceOf(rule, execution));
      } else if (rule.kind === 'failures') {
        const before = recent.get(rule.id) ?? readTimes(rule.recent_failures);
        const { times, isReached } = countFailure(before, +execution.completed_at, rule);
        recent.set(rule.id, times);
        if (isReached) occurrences.push({ ...occurrenceOf(rule, execution), subject: 'failures' });
      } else if (rule.kind === 'recovered') {
        failing.set(`${rule.id} ${execution.workflow_id}`, {
          ruleId: rule.id,
          organisationId: rule.organisation_id,
          workflowId: execution.workflow_id,
          executionId: execution.id,
        });
      }
    }
  }
  return { occurrences, failing: [...failing.values()], recentFailures: recent };
}

function concerns(rule: JudgedRule, execution: EndedExecution): boolean {
  return (
    rule.organisation_id === execution.organisation_id &&
    (rule.workflow_id === null || rule.workflow_id === execution.workflow_id) &&
    execution.completed_at >= rule.since
  );
}

/** As the rule sees it: too slow, whatever the outcome, or failed. */
function wentWrong({ kind, seconds }: JudgedRule, execution: EndedExecution): boolean {
  return kind === 'slow' ? (execution.duration_ms ?? 0) > (seconds ?? 0) * 1000 : execution.has_failed;
}

/**
 * Counts one more failure. Once there are as many within the window as the rule says, counting begins anew, so that the
 * next message takes as many failures as the first.
 */
export function countFailure(
  before: readonly number[],
  atMs: number,
  { threshold, seconds }: Pick<JudgedRule, 'threshold' | 'seconds'>,
): { readonly times: readonly number[]; readonly isReached: boolean } {
  const windowMs = (seconds ?? 0) * 1000;
  const times = [...before, atMs].filter((time) => time > atMs - windowMs);
  const isReached = times.length >= (threshold ?? 1);
  return { times: isReached ? [] : times, isReached };
}

function readTimes(text: string): readonly number[] {
  return JSON.parse(text) as number[];
}

function occurrenceOf(rule: JudgedRule, execution: EndedExecution): Occurrence {
  return {
    ruleId: rule.id,
    organisationId: rule.organisation_id,
    subject: `workflow:${execution.workflow_id}`,
    name: execution.workflow_name,
    workflowId: execution.workflow_id,
    executionId: execution.id,
    error: execution.error,
    at: execution.completed_at,
  };
}

/** Occurrences of one subject as one row, with how often and the last of them. */
export interface Incident extends Occurrence {
  readonly occurrences: number;
  readonly firstAt: Date;
}

export function groupOccurrences(occurrences: readonly Occurrence[]): readonly Incident[] {
  const groups = new Map<string, Incident>();
  for (const occurrence of occurrences) {
    const key = `${occurrence.ruleId} ${occurrence.subject}`;
    const before = groups.get(key);
    groups.set(key, {
      ...occurrence,
      occurrences: (before?.occurrences ?? 0) + 1,
      firstAt: before?.firstAt ?? occurrence.at,
    });
  }
  return [...groups.values()];
}
