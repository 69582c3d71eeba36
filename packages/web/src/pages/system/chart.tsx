import { useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './chart.css';
import { CHART_HEIGHT, type Line } from './chart-lines.ts';

interface ChartProps {
  /** Unix seconds, ascending. */
  at: readonly number[];
  hours: number;
  lines: readonly Line[];
  format: (value: number) => string;
  language: string;
  /** Label of the time under the pointer. */
  timeLabel: string;
}

const LEGEND_HEIGHT = 30;
/** Fraction of the range; a larger distance between samples is shown as a gap. */
const GAP_SHARE = 1 / 60;

/** Lines over the last hours, with the values under the pointer in the legend. */
export default function Chart(props: ChartProps) {
  const { at, lines } = props;
  const { ref: frame, width } = useElementSize();
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const chart = useRef<uPlot | null>(null);
  const data = useMemo(() => withGaps(at, lines, props.hours), [at, lines, props.hours]);
  // The chart is rebuilt when its appearance changes, and otherwise only gets new data.
  const look = JSON.stringify([lines.map(({ label }) => label), props.hours, props.language, scheme]);
  const latest = useRef({ props, data });
  latest.current = { props, data };

  useEffect(() => {
    const element = place.current;
    if (element === null || width === 0 || look === '') return;
    const made = new uPlot(optionsOf(latest.current.props, element, width), latest.current.data, element);
    chart.current = made;
    return () => {
      chart.current = null;
      made.destroy();
    };
  }, [look, width]);

  useEffect(() => {
    chart.current?.setData(data);
  }, [data]);

  return (
    <div ref={frame} style={{ minHeight: CHART_HEIGHT, overflowX: 'hidden' }}>
      <div ref={place} />
    </div>
  );
}

function optionsOf(
  { hours, lines, format, language, timeLabel }: ChartProps,
  element: HTMLElement,
  width: number,
): uPlot.Options {
  const style = getComputedStyle(element);
  const variable = (name: string) => style.getPropertyValue(name).trim();
  const grid = { stroke: variable('--mantine-color-default-border'), width: 1 };
  const axis = {
    stroke: variable('--mantine-color-dimmed'),
    grid,
    ticks: { show: false },
    font: '11px system-ui',
  };
  const time = new Intl.DateTimeFormat(language, {
    ...(hours < 24 ? {} : { dateStyle: 'short' }),
    timeStyle: 'short',
  });
  const timeText = (seconds: number | null) => (seconds === null ? '' : time.format(seconds * 1_000));
  return {
    width,
    height: CHART_HEIGHT - LEGEND_HEIGHT,
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: {
      y: { range: (_chart, least, most) => [Math.min(least ?? 0, 0), Math.max((most ?? 0) * 1.1, 1)] },
    },
    axes: [
      { ...axis, size: 26, values: (_chart, ticks) => ticks.map((tick) => tickText(tick, ticks, language)) },
      {
        ...axis,
        size: 62,
        values: (_chart, ticks) => ticks.map((tick) => (tick === null ? '' : format(tick))),
      },
    ],
    series: [
      {
        label: timeLabel,
        value: (chart, value, _series, at) =>
          timeText(value ?? (at === null ? (chart.data[0].at(-1) ?? null) : null)),
      },
      ...lines.map(({ label, color }, index) => ({
        label,
        stroke: variable(`--mantine-color-${color}-text`),
        width: 1.5,
        // Distinguishable without colour.
        dash: [[], [6, 3], [2, 3]][index] ?? [],
        points: { show: false },
        // Without a pointer over the chart, the latest value.
        value: (chart: uPlot, value: number | null, series: number, at: number | null) => {
          const shown = at === null ? (chart.data[series]?.at(-1) ?? null) : value;
          return shown === null ? '–' : format(shown);
        },
      })),
    ],
  };
}

/** The time of day; the date at the start of a day or where ticks are days apart. */
function tickText(tick: number, ticks: readonly number[], language: string): string {
  const date = new Date(tick * 1_000);
  const isDay =
    (ticks[1] ?? 0) - (ticks[0] ?? 0) >= 86_400 || (date.getHours() === 0 && date.getMinutes() === 0);
  return isDay
    ? date.toLocaleDateString(language, { month: 'numeric', day: 'numeric' })
    : date.toLocaleTimeString(language, { hour: 'numeric', minute: '2-digit' });
}

/** Breaks the lines where samples are missing. */
function withGaps(at: readonly number[], lines: readonly Line[], hours: number): uPlot.AlignedData {
  const least = Math.max(hours * 3_600 * GAP_SHARE, 150);
  const times: number[] = [];
  const columns: (number | null)[][] = lines.map(() => []);
  for (const [index, moment] of at.entries()) {
    const before = at[index - 1];
    if (before !== undefined && moment - before > least) {
      times.push(before + 1);
      for (const column of columns) column.push(null);
    }
    times.push(moment);
    for (const [position, column] of columns.entries()) column.push(lines[position]?.values[index] ?? null);
  }
  return [times, ...columns];
}
