import { type ReactNode, type Ref, type RefObject, useImperativeHandle } from 'react';
import type { JsonRow } from './json-viewer-rows.ts';

/** With more lines, only those in sight are in the page. */
export const MAX_LINES = 200;

export interface JsonLines {
  /** @returns whether the line is there */
  scrollTo(index: number): boolean;
}

/** Where a line is, if its place has to be said; `measure` takes its element. */
export interface LinePlace {
  readonly start: number;
  readonly measure: (element: Element | null) => void;
}

export interface JsonLinesProps {
  rows: readonly JsonRow[];
  /** What scrolls. */
  frame: RefObject<HTMLDivElement | null>;
  line: (row: JsonRow, index: number, place: LinePlace | null) => ReactNode;
  ref: Ref<JsonLines>;
}

/** The lines of a value that has few: all of them. */
export function AllLines({ rows, frame, line, ref }: JsonLinesProps) {
  useImperativeHandle(ref, () => ({ scrollTo: (index) => scrollWithin(frame.current, index) }), [frame]);
  return rows.slice(0, MAX_LINES).map((row, index) => line(row, index, null));
}

/** As little as is needed to show the line; the page around it stays where it is. */
function scrollWithin(frame: HTMLElement | null, index: number): boolean {
  const line = frame?.querySelector(`[data-index="${index}"]`);
  if (frame == null || line == null) return false;
  const around = frame.getBoundingClientRect();
  const { top, bottom } = line.getBoundingClientRect();
  if (top < around.top) frame.scrollTop -= around.top - top;
  else if (bottom > around.bottom) frame.scrollTop += bottom - around.bottom;
  return true;
}
