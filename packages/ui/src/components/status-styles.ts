import type { ExecutionItem, NodeSummary } from '@millrace/admin-api';
import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleX,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
} from 'lucide-react';

interface StatusStyle {
  readonly icon: LucideIcon;
  readonly color: string;
}

/** The style of each execution status. */
export const EXECUTION_STATUS_STYLES: { readonly [S in ExecutionItem['status']]: StatusStyle } = {
  queued: { icon: CircleDashed, color: 'gray' },
  running: { icon: LoaderCircle, color: 'blue' },
  waiting_async: { icon: Hourglass, color: 'yellow' },
  completed: { icon: CircleCheck, color: 'green' },
  failed: { icon: CircleX, color: 'red' },
  cancelled: { icon: Ban, color: 'gray' },
};

/** The style of each node status. */
export const NODE_STATUS_STYLES: { readonly [S in NodeSummary['status']]: StatusStyle } = {
  success: { icon: CircleCheck, color: 'green' },
  failed: { icon: CircleX, color: 'red' },
  skipped: { icon: CircleDashed, color: 'gray' },
  running: { icon: LoaderCircle, color: 'blue' },
  waiting: { icon: Hourglass, color: 'yellow' },
  cancelled: { icon: Ban, color: 'gray' },
};
