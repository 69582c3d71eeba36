import type { Start } from '../faults/support/client.ts';
import type { ExecutionRow } from '../faults/support/ledger.ts';
import type { Received } from '../faults/support/receiver.ts';

/** What clients, the database and the outside world saw. */
export interface Evidence {
  readonly starts: readonly Start[];
  readonly executions: readonly Pick<ExecutionRow, 'id' | 'marker' | 'status'>[];
  readonly calls: readonly Pick<Received, 'deliveryKey' | 'body'>[];
}

/** What became of the starts; the ids or markers of those that broke a promise. */
export interface Verdict {
  readonly accepted: number;
  readonly refused: number;
  readonly cut: number;
  /** Acknowledged, and not there. */
  readonly lost: readonly number[];
  /** Started more than once, or called the outside world under more than one key. */
  readonly doubled: readonly string[];
  /** Not completed, although all have had the time. */
  readonly unfinished: readonly number[];
  /** Refused with another status than 503, or without `Retry-After`. */
  readonly unexpected: readonly string[];
}

/** Compares what was acknowledged with what is there. */
export function judge({ starts, executions, calls }: Evidence): Verdict {
  const ids = new Set(executions.map(({ id }) => id));
  const answers = starts.map(({ answer }) => answer);
  const accepted = answers.filter((answer) => answer.kind === 'accepted');
  const refused = answers.filter((answer) => answer.kind === 'refused');
  const twice = [...Map.groupBy(executions, ({ marker }) => marker)].filter(([, rows]) => rows.length > 1);
  const keysOf = Map.groupBy(calls, ({ body }) => String((body as { execution: number }).execution));
  const severalKeys = [...keysOf].filter(([, own]) => new Set(own.map((each) => each.deliveryKey)).size > 1);
  return {
    accepted: accepted.length,
    refused: refused.length,
    cut: answers.length - accepted.length - refused.length,
    lost: accepted.map(({ executionId }) => executionId).filter((id) => !ids.has(id)),
    doubled: [...twice, ...severalKeys].map(([name]) => name),
    unfinished: executions.filter(({ status }) => status !== 'completed').map(({ id }) => id),
    unexpected: refused
      .filter(({ status, retryAfter }) => status !== 503 || retryAfter === null)
      .map(({ status, code }) => `${status} ${code}`),
  };
}
