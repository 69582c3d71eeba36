import { useElementSize } from '@mantine/hooks';
import type { RunBar } from '@millrace/admin-api';
import type { ReactNode } from 'react';
import { labelledPlaces } from './chart-scale.ts';
import classes from './run-charts.module.css';

const HEIGHT = 150;
/** Room for the labels of the time axis, and of the other one. */
const FOOT = 18;
const SIDE = 52;
const HEAD = 8;
/** Pixels that a label of the time axis needs. */
const LABEL_WIDTH = 64;

/** Where things are in a chart: the middle and the width of a bar, and the height of a value. */
export interface Places {
  readonly middleOf: (place: number) => number;
  readonly width: number;
  readonly heightOf: (value: number) => number;
  readonly floor: number;
}

/** A chart with one place for each hour or day: axes, labels, and the values under the pointer as a tooltip of the browser. */
export function BarChart({
  bars,
  top,
  label,
  timeOf,
  textOf,
  describe,
  children,
}: {
  bars: readonly RunBar[];
  /** Value at the upper end. */
  top: number;
  /** What a screen reader says; the table has the values. */
  label: string;
  timeOf: (bar: RunBar) => string;
  textOf: (value: number) => string;
  describe: (bar: RunBar) => string;
  children: (places: Places) => ReactNode;
}) {
  const { ref, width } = useElementSize();
  const floor = HEIGHT - FOOT;
  const step = Math.max(1, (width - SIDE) / Math.max(1, bars.length));
  const places: Places = {
    middleOf: (place) => SIDE + step * (place + 0.5),
    width: Math.max(1, Math.min(28, step * 0.7)),
    heightOf: (value) => floor - ((floor - HEAD) * Math.min(value, top)) / top,
    floor,
  };
  const labelled = labelledPlaces(bars.length, Math.floor((width - SIDE) / LABEL_WIDTH));
  return (
    <div ref={ref}>
      <svg className={classes.chart} role="img" aria-label={label}>
        {[0, top].map((value) => (
          <g key={value}>
            <line
              className={classes.axis}
              x1={SIDE}
              x2={Math.max(SIDE, width)}
              y1={places.heightOf(value)}
              y2={places.heightOf(value)}
            />
            <text x={SIDE - 6} y={places.heightOf(value)} dy="0.32em" textAnchor="end">
              {textOf(value)}
            </text>
          </g>
        ))}
        {children(places)}
        {labelled.map((place) => {
          const bar = bars[place];
          if (bar === undefined) return null;
          return (
            <text key={bar.at} x={places.middleOf(place)} y={HEIGHT - 3} textAnchor="middle">
              {timeOf(bar)}
            </text>
          );
        })}
        {bars.map((bar, place) => (
          <rect
            key={bar.at}
            className={classes.hit}
            x={places.middleOf(place) - step / 2}
            y={HEAD}
            width={step}
            height={floor - HEAD}
          >
            <title>{describe(bar)}</title>
          </rect>
        ))}
      </svg>
    </div>
  );
}
