import { Crashes } from './crashes.ts';
import type { Evidence } from './evidence.ts';
import type { CampaignOptions } from './options.ts';
import { kindOf } from './plan.ts';
import { CATEGORIES, type Category, type Finding, type Verdict } from './verdict.ts';

/** What a campaign prints. */
export interface Report {
  readonly options: CampaignOptions;
  readonly seconds: number;
  /** Why faults were left out; null if none were. */
  readonly missing: string | null;
  readonly starts: {
    readonly sent: number;
    readonly accepted: number;
    readonly refused: number;
    readonly cut: number;
  };
  readonly executions: { readonly [status: string]: number };
  readonly fires: number;
  readonly calls: { readonly expectedOnce: number; readonly received: number };
  /** Attempts that waited for their host in a parked execution. */
  readonly putOff: number;
  /** Executions cancelled because of a newer one with the same key. */
  readonly superseded: number;
  /** Starts that a rate held and released. */
  readonly released: number;
  /** Files that were read back. */
  readonly files: number;
  /** Faults that were injected, by kind; those that hit nothing are not counted. */
  readonly faults: { readonly [kind: string]: number };
  readonly takeOvers: TakeOverTimes;
  readonly crashes: {
    readonly counted: number;
    readonly withoutFault: number;
    readonly failedExecutions: number;
  };
  readonly lateCalls: number;
  readonly counts: { readonly [Name in Category]: number };
  readonly findings: readonly Finding[];
}

/** From the fault that hit a worker until another process had its execution, in milliseconds. */
export interface TakeOverTimes {
  readonly count: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly longestMs: number;
}

const SHOWN_FINDINGS = 40;

/** Sums up a campaign. */
export function summarise(
  options: CampaignOptions,
  evidence: Evidence,
  verdict: Verdict,
  run: { readonly seconds: number; readonly missing: string | null },
): Report {
  const answers = evidence.starts.flatMap((start) => start.answers);
  const numberOf = (kind: string) => answers.filter((answer) => answer.kind === kind).length;
  const crashes = new Crashes(evidence);
  const hits = evidence.faults.filter(({ hasHit }) => hasHit).map(({ fault }) => kindOf(fault));
  return {
    options,
    ...run,
    starts: {
      sent: evidence.starts.length,
      accepted: evidence.starts.filter((start) => start.answers.some(({ kind }) => kind === 'accepted'))
        .length,
      refused: numberOf('refused'),
      cut: numberOf('cut'),
    },
    executions: countBy(evidence.executions.map(({ status }) => status)),
    fires: evidence.fires.length,
    calls: {
      expectedOnce: new Set(evidence.calls.map(({ deliveryKey }) => deliveryKey)).size,
      received: evidence.calls.length,
    },
    putOff: evidence.putOff,
    superseded: evidence.executions.filter(({ cancelled_for }) => cancelled_for !== null).length,
    released: evidence.releases.reduce((sum, { released }) => sum + released, 0),
    files: evidence.files.size,
    faults: countBy(hits.toSorted()),
    takeOvers: takeOverTimes(evidence, crashes),
    crashes: {
      counted: evidence.takeOvers.filter(({ isCrash }) => isCrash).length,
      withoutFault: crashes.unexplained.length,
      failedExecutions: verdict.crashed.length,
    },
    lateCalls: verdict.lateCalls.length,
    counts: Object.fromEntries(
      CATEGORIES.map((name) => [name, verdict.findings.filter(({ category }) => category === name).length]),
    ) as Report['counts'],
    findings: verdict.findings,
  };
}

/** Formats a report for people. */
export function formatReport(report: Report): string {
  const { options, starts, executions, takeOvers, crashes, counts } = report;
  const list = (counted: { readonly [name: string]: number }) =>
    Object.entries(counted).map(([name, count]) => `${count} ${name}`);
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  const lines = [
    `Campaign: ${options.executions} starts, ${options.faults} faults, seed ${options.seed}, ${options.apis} api, ${options.workers} workers; ${Math.round(report.seconds)} s`,
    `Starts: ${starts.sent} sent, ${starts.accepted} accepted; ${starts.refused} responses refused, ${starts.cut} cut`,
    `Executions: ${list(executions).join(', ')}; ${report.fires} fires of the schedule`,
    `Calls: ${report.calls.received} received under ${report.calls.expectedOnce} delivery keys; ${report.putOff} attempts put off until their host's turn`,
    `Settings: ${report.superseded} executions superseded by newer ones, ${report.released} released by rates; ${report.files} files read back`,
    'Injected:',
    ...list(report.faults).map((line) => `  ${line}`),
    ...(report.missing === null ? [] : [`  left out: ${report.missing}`]),
    `Take-overs: ${takeOvers.count}, median ${seconds(takeOvers.medianMs)}, 95 % within ${seconds(takeOvers.p95Ms)}, longest ${seconds(takeOvers.longestMs)}`,
    `Crashes: ${crashes.counted} counted, ${crashes.withoutFault} of them without a fault (a busy machine)`,
    `Failed as worker_crashed after three injected crashes, and their parents: ${crashes.failedExecutions}`,
    `Calls sent after their node's end by a process that was stopped while it sent them: ${report.lateCalls}`,
    CATEGORIES.map((name) => `${name}: ${counts[name]}`).join(', '),
    ...report.findings.slice(0, SHOWN_FINDINGS).map(({ category, what, executionIds }) => {
      return `  ${category}: ${what}${executionIds.length > 0 ? ` (executions ${executionIds.join(', ')})` : ''}`;
    }),
  ];
  const hidden = report.findings.length - SHOWN_FINDINGS;
  return [...lines, ...(hidden > 0 ? [`  and ${hidden} more`] : [])].join('\n');
}

function takeOverTimes({ takeOvers }: Evidence, crashes: Crashes): TakeOverTimes {
  const times = takeOvers
    .flatMap((takeOver) => {
      const cause = takeOver.fromPid === takeOver.toPid ? null : crashes.causeOf(takeOver);
      return cause === null ? [] : [takeOver.atMs - cause.startedAtMs];
    })
    .toSorted((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { count: times.length, medianMs: at(0.5), p95Ms: at(0.95), longestMs: at(1) };
}

function countBy(names: readonly string[]): { [name: string]: number } {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}
