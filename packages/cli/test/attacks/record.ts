/** What one attack did to the bystander. */
export interface Measured {
  readonly name: string;
  readonly executions: number;
  readonly glances: number;
  /** Milliseconds. */
  readonly alone: number;
  readonly beside: number;
}

export const HEAD = [
  '| Attack | Executions | Bystander: starts | p95 alone | p95 beside it | Ratio |',
  '|---|---:|---:|---:|---:|---:|',
];

/** The longest that a bystander may take beside an attack, compared with its time alone. */
const AIM = 2;

export function rowOf({ name, executions, glances, alone, beside }: Measured): string {
  const cells = [name, executions, glances, inMs(alone), inMs(beside), ratioOf({ alone, beside }).toFixed(1)];
  return `| ${cells.join(' | ')} |`;
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
  const over = measured.filter((each) => ratioOf(each) > AIM).length;
  const said = /Beside \d+ of the \d+, the bystander's p95/;
  const text = lines.join('\n');
  if (!said.test(text))
    throw new Error('docs/reliability.md no longer says beside how many attacks it is slower');
  return text.replace(said, `Beside ${over} of the ${measured.length}, the bystander's p95`);
}

function ratioOf({ alone, beside }: Pick<Measured, 'alone' | 'beside'>): number {
  return beside / alone;
}

function inMs(value: number): string {
  return `${Math.round(value)} ms`;
}
