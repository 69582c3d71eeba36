/** The p95 of the bystander's starts, in milliseconds. */
export interface Times {
  readonly alone: number;
  readonly beside: number;
}

/** What one attack did to the bystander. */
export interface Measured {
  readonly name: string;
  /** Where the bystander's workflow needs the worker that is attacked. */
  readonly byWorker: Times;
  /** Where the API completes it, as it does by default. */
  readonly byDefault: Times;
}

export const HEAD = [
  '| Attack | Through the worker: p95 alone | Beside it | Ratio | By default: p95 alone | Beside it | Ratio |',
  '|---|---:|---:|---:|---:|---:|---:|',
];

/** The longest that a bystander may take beside an attack, compared with its time alone. */
const AIM = 2;

export function rowOf({ name, byWorker, byDefault }: Measured): string {
  return `| ${[name, ...cellsOf(byWorker), ...cellsOf(byDefault)].join(' | ')} |`;
}

function cellsOf(times: Times): string[] {
  return [inMs(times.alone), inMs(times.beside), ratioOf(times).toFixed(1)];
}

/**
 * The page with a new table, and what it says about that.
 * @throws Error if the page no longer has them
 */
export function recordIn(page: string, measured: readonly Measured[]): string {
  const lines = page.split('\n');
  const from = lines.indexOf(HEAD[0] ?? '');
  if (from === -1) throw new Error('docs/reliability.md has no table of attacks');
  const rows = lines.slice(from).findIndex((line) => !line.startsWith('|'));
  lines.splice(from, rows === -1 ? lines.length : rows, ...HEAD, ...measured.map(rowOf));
  const [byWorker, byDefault] = (['byWorker', 'byDefault'] as const).map(
    (way) => measured.filter((each) => ratioOf(each[way]) > AIM).length,
  );
  const said = /Beside \d+ of the \d+ attacks through the worker, and \d+ by default,/;
  const text = lines.join('\n');
  if (!said.test(text))
    throw new Error('docs/reliability.md no longer says beside how many attacks it is slower');
  return text.replace(
    said,
    `Beside ${byWorker} of the ${measured.length} attacks through the worker, and ${byDefault} by default,`,
  );
}

function ratioOf({ alone, beside }: Times): number {
  return beside / alone;
}

function inMs(value: number): string {
  return `${Math.round(value)} ms`;
}
