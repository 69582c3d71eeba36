import { useVirtualizer } from '@tanstack/react-virtual';
import { useImperativeHandle } from 'react';
import classes from './json-viewer.module.css';
import type { JsonLinesProps } from './json-viewer-lines.tsx';

const LINE_HEIGHT = 20;

/** The lines of a value that has many: those in sight. */
export function LinesInSight({ rows, frame, line, ref }: JsonLinesProps) {
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 12,
    getItemKey: (index) => rows[index]?.place ?? index,
  });
  const count = rows.length;
  useImperativeHandle(
    ref,
    () => ({
      scrollTo(index) {
        virtualizer.scrollToIndex(index, { align: 'auto' });
        return index < count;
      },
    }),
    [virtualizer, count],
  );
  return (
    <div className={classes.many} style={{ height: virtualizer.getTotalSize() }}>
      {virtualizer.getVirtualItems().map(({ index, start }) => {
        const row = rows[index];
        return row === undefined ? null : line(row, index, { start, measure: virtualizer.measureElement });
      })}
    </div>
  );
}
