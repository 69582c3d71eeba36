import type { FailoverOptions } from './options.ts';
import type { Verdict } from './verdict.ts';

/** One kill of the primary, and how the service came back. Times are milliseconds. */
export interface Takeover {
  readonly kind: KillKind;
  readonly from: string;
  readonly to: string;
  /** From the kill until another server accepted writes. */
  readonly promotedMs: number;
  /** From the kill until that server had a synchronous standby again: only then it may acknowledge anything. */
  readonly standbyMs: number;
  /** From the promotion until a start that was sent after it was acknowledged. */
  readonly backMs: number;
}

export type KillKind = 'PostgreSQL' | 'machine';

/** What a failover test prints. */
export interface Report {
  readonly options: FailoverOptions;
  readonly seconds: number;
  readonly postgres: string;
  readonly takeovers: readonly Takeover[];
  readonly verdict: Verdict;
  /** Processes of the service that ended. */
  readonly ended: number;
}

/** The service must be back this soon after a promotion; with two servers, after there is a standby again. */
const BACK_MS = 10_000;

/** How long the service made clients wait after it could have gone on. */
function delayOf({ options }: Report, { promotedMs, standbyMs, backMs }: Takeover): number {
  return options.servers > 2 ? backMs : promotedMs + backMs - standbyMs;
}

/** Whether every promise was kept, and the service was back in time. */
export function isGood(report: Report): boolean {
  const { lost, doubled, unfinished, unexpected } = report.verdict;
  const broken = lost.length + doubled.length + unfinished.length + unexpected.length + report.ended;
  return broken === 0 && report.takeovers.every((takeover) => delayOf(report, takeover) <= BACK_MS);
}

/** Formats a report for people. */
export function formatReport(report: Report): string {
  const { options, takeovers, verdict } = report;
  const seconds = (ms: number) => (ms / 1_000).toFixed(1).padStart(6);
  const list = (name: string, found: readonly (number | string)[]) =>
    `${name}: ${found.length}${found.length === 0 ? '' : ` (${found.slice(0, 20).join(', ')})`}`;
  const spread = (name: string, of: (takeover: Takeover) => number) => {
    const times = takeovers.map(of).toSorted((a, b) => a - b);
    const at = (share: number) => seconds(times[Math.floor((times.length - 1) * share)] ?? 0).trim();
    return `${name}: median ${at(0.5)} s, longest ${at(1)} s`;
  };
  return [
    `Failover: ${options.servers} servers, ${report.postgres}; primary killed ${takeovers.length} times in ${Math.round(report.seconds)} s`,
    `Starts: ${verdict.accepted} acknowledged, ${verdict.refused} refused, ${verdict.cut} without a response`,
    'killed           from  to    promoted  standby  accepted again (seconds after the kill)',
    ...takeovers.map(
      ({ kind, from, to, promotedMs, standbyMs, backMs }) =>
        `${kind.padEnd(15)}  ${from}   ${to}     ${seconds(promotedMs)}   ${seconds(standbyMs)}    ${seconds(promotedMs + backMs)}`,
    ),
    spread('From the kill to the promotion', ({ promotedMs }) => promotedMs),
    spread('From the promotion to the next acknowledged start', ({ backMs }) => backMs),
    spread('From the promotion to a synchronous standby', (each) => each.standbyMs - each.promotedMs),
    spread('From the kill to the next acknowledged start', (each) => each.promotedMs + each.backMs),
    [
      list('lost', verdict.lost),
      list('doubled', verdict.doubled),
      list('not completed', verdict.unfinished),
      list('unexpected', verdict.unexpected),
      `processes of the service that ended: ${report.ended}`,
    ].join(', '),
  ].join('\n');
}
