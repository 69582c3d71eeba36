/** Shared props of the timeline's chart and table. */
export interface TimelineProps {
  /** By node inside a loop: that loop. */
  readonly parents: ReadonlyMap<string, string>;
  readonly labels: ReadonlyMap<string, string>;
  readonly chosen: string | null;
  readonly onChoose: (nodeId: string) => void;
}
