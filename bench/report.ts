import { type BenchResult, type Measured, ratio } from './result.ts';
import { SECTIONS } from './row.ts';

/** The result as text for a terminal: one aligned table per section, the targets, the machine. */
export function formatReport(result: BenchResult): string {
  const parts = tables(result).map(({ title, header, lines }) => `${title}\n${aligned([header, ...lines])}`);
  return [...parts, facts(result).join('\n')].join('\n\n');
}

/** The same as Markdown tables, for the documentation. */
export function formatMarkdown(result: BenchResult): string {
  const parts = tables(result).map(
    ({ title, header, lines }) => `### ${title}\n\n${markdownTable(header, lines)}`,
  );
  return [facts(result).join('  \n'), ...parts].join('\n\n');
}

/** A human-readable number: with thousands separators and only significant digits. */
export function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

interface Table {
  readonly title: string;
  readonly header: readonly string[];
  readonly lines: readonly (readonly string[])[];
}

function tables(result: BenchResult): Table[] {
  const aims: Table = { title: 'Targets', header: ['', 'Measured', 'Target', ''], lines: aimLines(result) };
  return [...sections(result), ...(result.aims.length > 0 ? [aims] : [])];
}

function sections({ metrics }: BenchResult): Table[] {
  return SECTIONS.flatMap((title): Table[] => {
    const chosen = metrics.filter(({ section }) => section === title);
    if (chosen.length === 0) return [];
    const header = ['', 'Median', 'Unit', 'Lowest', 'Highest'];
    if (title !== 'Throughput') return [{ title, header, lines: chosen.map(metricLine) }];
    const lines = chosen.map((metric) => [
      ...metricLine(metric),
      ...['bare', 'coalesced'].map((base) =>
        // A ratio is not a rate, so there is nothing to compare.
        metric.unit === '/s' ? formatRatio(ratio(metrics, metric.id, base)) : '',
      ),
    ]);
    return [{ title, header: [...header, 'Of bare', 'Of coalesced'], lines }];
  });
}

function metricLine({ label, median, unit, min, max }: Measured): string[] {
  return [label, formatNumber(median), unit, formatNumber(min), formatNumber(max)];
}

function formatRatio(value: number | null): string {
  return value === null ? '' : value.toFixed(2);
}

function aimLines({ aims }: BenchResult): string[][] {
  return aims.map(({ label, value, wanted, met }) => [
    label,
    formatNumber(value),
    wanted,
    met ? 'met' : 'not met',
  ]);
}

function facts({ date, commit, machine, effort, stolenShare }: BenchResult): string[] {
  return [
    `${date.slice(0, 10)}, commit ${commit}`,
    `${machine.cores} cores (${machine.cpu}), ${formatNumber(machine.memoryMib / 1024)} GiB, Linux ${machine.kernel}, Node ${machine.node}, PostgreSQL ${machine.postgres}`,
    `${effort.rounds} ${effort.rounds === 1 ? 'round' : 'rounds'} of ${effort.seconds} s per row after ${effort.warmupSeconds} s of warm-up, ${effort.connections} connections, lists over ${effort.pageRows.toLocaleString('en-US')} executions`,
    `Processor time taken by other machines during the run: ${(stolenShare * 100).toFixed(1)} %`,
  ];
}

/** The first column is left-aligned, the others right-aligned unless they contain words. */
function aligned(lines: readonly (readonly string[])[]): string {
  const columns = Math.max(...lines.map((line) => line.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          /^[\d.,]+$/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function markdownTable(header: readonly string[], lines: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = header.map((_, column) => (column === 0 ? '---' : '---:'));
  return [row(header), row(rule), ...lines.map(row)].join('\n');
}
