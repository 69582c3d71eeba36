import type { Row } from '../row.ts';
import { bareRow, coalescedRow } from './bare.ts';
import { bulkStartRow } from './bulk-start.ts';
import { canvasRow } from './canvas.ts';
import { coldStartRow } from './cold-start.ts';
import { executeRows } from './execute.ts';
import { firstViewRow } from './first-view.ts';
import { firstViewAllRow } from './first-view-all.ts';
import { growthFillRow } from './growth-fill.ts';
import { growthPruneRow } from './growth-prune.ts';
import { growthReadsRow } from './growth-reads.ts';
import { growthStartsRow } from './growth-starts.ts';
import { latencyRow } from './latency.ts';
import { pagesRow } from './pages.ts';
import { workersRow } from './workers.ts';

/** Every row, in the order of rounds and of the report. */
export const ROWS: readonly Row[] = [
  bareRow,
  coalescedRow,
  ...executeRows,
  bulkStartRow,
  workersRow,
  latencyRow,
  coldStartRow,
  pagesRow,
  growthFillRow,
  growthReadsRow,
  growthStartsRow,
  growthPruneRow,
  firstViewRow,
  firstViewAllRow,
  canvasRow,
];
