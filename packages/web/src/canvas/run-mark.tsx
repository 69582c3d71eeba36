import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleX,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
} from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { serviceNow } from '../api/clock.ts';
import { explain } from '../i18n/service/index.ts';
import { formatDuration } from '../ui/time.tsx';
import type { NodeRun } from './editor-state.ts';

type Status = NodeRun['status'];

/** Each state has an icon, a colour and a word of its own. */
const LOOKS: { readonly [S in Status]: { readonly icon: LucideIcon; readonly colour: string } } = {
  success: { icon: CircleCheck, colour: 'var(--flow-success)' },
  failed: { icon: CircleX, colour: 'var(--flow-failed)' },
  skipped: { icon: CircleDashed, colour: 'var(--mantine-color-dimmed)' },
  running: { icon: LoaderCircle, colour: 'var(--flow-running)' },
  waiting: { icon: Hourglass, colour: 'var(--flow-waiting)' },
  cancelled: { icon: Ban, colour: 'var(--mantine-color-dimmed)' },
};

/** What became of a node: icon, colour, and how long it took or has been at it. */
export function RunMark({ run, hasTime = true }: { readonly run: NodeRun; readonly hasTime?: boolean }) {
  const { t } = useTranslation();
  const { icon: Icon, colour } = LOOKS[run.status];
  const duration = useDuration(run);
  const word = t(`editor.run.${run.status}`);
  const title = run.error === undefined ? word : `${word}: ${explain(run.error.message)}`;
  return (
    <span className="flow-run" style={{ color: colour }} title={title}>
      <Icon size={14} aria-hidden className={run.status === 'running' ? 'flow-spin' : undefined} />
      <span className="flow-visually-hidden">{word}</span>
      {hasTime && duration !== null && <span>{formatDuration(duration)}</span>}
      {run.iterations !== undefined && run.iterations > 1 && <span>×{run.iterations}</span>}
    </span>
  );
}

/** Milliseconds; grows while the node is at work. */
function useDuration({ status, started_at: from, completed_at: to }: NodeRun): number | null {
  const isOn = status === 'running' || status === 'waiting';
  const [now, setNow] = useState(serviceNow);
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => setNow(serviceNow()), 1_000);
    return () => clearInterval(timer);
  }, [isOn]);
  if (from == null || status === 'skipped') return null;
  const end = to == null ? (isOn ? now : null) : Date.parse(to);
  return end === null ? null : Math.max(0, end - Date.parse(from));
}
