/** Pixels, legend included. */
export const CHART_HEIGHT = 190;

/** One line of a chart; null values are drawn as gaps. */
export interface Line {
  readonly label: string;
  readonly color: 'teal' | 'red' | 'orange' | 'grape';
  readonly values: readonly (number | null)[];
}
