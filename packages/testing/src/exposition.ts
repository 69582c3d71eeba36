/** One line of Prometheus' text format. */
export interface Sample {
  readonly name: string;
  readonly labels: { readonly [name: string]: string };
  readonly value: number;
}

/** A metric with its lines. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

const SAMPLE =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (N[aA][nN]|[+-]Inf|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)/;
const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];

/**
 * Reads Prometheus' text format, strictly.
 * @throws Error for a line, or an order of lines, that is not allowed
 */
export function parseExposition(text: string): Map<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, { name: string; help: string; type: string; samples: Sample[] }>();
  let current: { name: string; help: string; type: string; samples: Sample[] } | null = null;
  const seen = new Set<string>();
  for (const line of text.split('\n')) {
    const help = /^# HELP (\S+) (.+)$/.exec(line);
    const type = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (line === '') continue;
    if (help !== null) {
      const [, name = '', words = ''] = help;
      if (families.has(name)) throw new Error(`${name} appears twice`);
      current = { name, help: words, type: '', samples: [] };
      families.set(name, current);
    } else if (type !== null) {
      if (current?.name !== type[1] || current?.type !== '') throw new Error(`misplaced: ${line}`);
      if (!TYPES.includes(type[2] ?? '')) throw new Error(`unknown type: ${line}`);
      current.type = type[2] ?? '';
    } else {
      const sample = parseSample(line);
      if (current === null || !namesOf(current).includes(sample.name)) throw new Error(`misplaced: ${line}`);
      const series = line.slice(0, line.lastIndexOf(' '));
      if (seen.has(series)) throw new Error(`twice: ${series}`);
      seen.add(series);
      current.samples.push(sample);
    }
  }
  for (const family of families.values()) checkFamily(family);
  return families;
}

function parseSample(line: string): Sample {
  const match = SAMPLE.exec(line);
  if (match === null) throw new Error(`not a sample: ${line}`);
  const [, name = '', labelText = '', value = ''] = match;
  const labels: Record<string, string> = {};
  for (let rest = labelText; rest !== ''; ) {
    const label = LABEL.exec(rest);
    if (label === null) throw new Error(`not a label: ${line}`);
    const [all, labelName = '', labelValue = ''] = label;
    if (labelName in labels) throw new Error(`label ${labelName} appears twice: ${line}`);
    labels[labelName] = labelValue.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
    rest = rest.slice(all.length);
  }
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) };
}

function namesOf({ name, type }: MetricFamily): string[] {
  if (type === 'histogram') return [`${name}_bucket`, `${name}_sum`, `${name}_count`];
  return type === 'summary' ? [name, `${name}_sum`, `${name}_count`] : [name];
}

function checkFamily({ name, type, samples }: MetricFamily): void {
  if (type === '') throw new Error(`${name} has no type`);
  if (type === 'counter' && samples.some(({ value }) => value < 0)) throw new Error(`${name} is negative`);
  if (type === 'histogram') checkHistogram(name, samples);
}

/** Buckets ascend, none counts less than the one before it, and the last one counts everything. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const bySeries = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  for (const [series, lines] of bySeries) {
    const buckets = lines.filter((line) => line.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => Number(labels.le?.replace('Inf', 'Infinity')));
    const counts = buckets.map(({ value }) => value);
    const count = lines.find((line) => line.name === `${name}_count`)?.value;
    const ascend = (values: readonly number[]) =>
      values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0));
    if (!ascend(bounds) || !ascend(counts)) throw new Error(`buckets of ${name} ${series} do not ascend`);
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY || counts.at(-1) !== count) {
      throw new Error(`the last bucket of ${name} ${series} does not count everything`);
    }
    if (!lines.some((line) => line.name === `${name}_sum`)) throw new Error(`${name} ${series} has no sum`);
  }
}
