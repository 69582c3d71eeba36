import type { NodeRun } from '@millrace/editor-model/editor-state.ts';
import { NODE_STATUS_STYLES } from '@millrace/ui/components/status-styles.ts';
import { formatDuration } from '@millrace/ui/components/time.tsx';
import { useNow } from '@millrace/ui/components/use-now.ts';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { useTranslation } from 'react-i18next';

type Status = NodeRun['status'];

/** The canvas's colours, which have enough contrast on its background. */
const STATUS_COLOURS: { readonly [S in Status]: string } = {
  success: 'var(--flow-success)',
  failed: 'var(--flow-failed)',
  skipped: 'var(--mantine-color-dimmed)',
  running: 'var(--flow-running)',
  waiting: 'var(--flow-waiting)',
  cancelled: 'var(--mantine-color-dimmed)',
};

/** A node's run status: icon, colour and duration. */
export function RunMark({ run }: { run: NodeRun }) {
  const { t } = useTranslation();
  const { icon: Icon } = NODE_STATUS_STYLES[run.status];
  const duration = useDuration(run);
  const word = t(`common.nodeStatus.${run.status}`);
  const title = run.error === undefined ? word : `${word}: ${translateMessage(run.error)}`;
  return (
    <span className="flow-run" style={{ color: STATUS_COLOURS[run.status] }} title={title}>
      <Icon size={14} aria-hidden className={run.status === 'running' ? 'flow-spin' : undefined} />
      <span className="flow-visually-hidden">{word}</span>
      {duration !== null && <span>{formatDuration(duration)}</span>}
      {run.iterations !== undefined && run.iterations > 1 && <span>×{run.iterations}</span>}
    </span>
  );
}

/** Milliseconds; increases while the node is running. */
function useDuration({ status, started_at: from, completed_at: to }: NodeRun): number | null {
  const isOn = status === 'running' || status === 'waiting';
  const now = useNow(isOn);
  if (from == null || status === 'skipped') return null;
  const end = to == null ? (isOn ? now : null) : Date.parse(to);
  return end === null ? null : Math.max(0, end - Date.parse(from));
}
