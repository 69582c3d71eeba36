import { Portal, VisuallyHidden } from '@mantine/core';
import type { NodeSummary } from '@millrace/admin-api';
import { formatDuration } from '@millrace/ui/components/time.tsx';
import { useInSight } from '@millrace/ui/components/use-in-sight.ts';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import type { TFunction } from 'i18next';
import { createContext, memo, useContext } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './timeline.module.css';
import { type Bar, type Lane, lengthOf, placeOf, type Scale } from './timeline-scale.ts';

/** A lane with more bars is summarized for screen readers. */
const MAX_SPOKEN = 6;

export interface Tick {
  /** Milliseconds since the start. */
  readonly at: number;
  /** Percent of the width. */
  readonly left: number;
}

/** The visible time range. While a bar is still open it changes every second and the view follows. */
export const ShownTime = createContext<{ readonly scale: Scale; readonly ticks: readonly Tick[] }>({
  scale: { fromMs: 0, toMs: 1 },
  ticks: [],
});

/** One node's activity over time. */
export const TimelineLane = memo(function TimelineLane({
  lane,
  label,
  isChosen,
  isOneOfMany,
  onChoose,
}: {
  lane: Lane;
  label: string;
  isChosen: boolean;
  /** Then only visible bars are rendered. */
  isOneOfMany: boolean;
  onChoose: (nodeId: string) => void;
}) {
  const { t } = useTranslation();
  const [ref, isNear] = useInSight<HTMLButtonElement>();
  const { node, bars, depth } = lane;
  const length = formatDuration(lengthOf(lane));
  const spoken = bars.length > MAX_SPOKEN ? [length] : bars.map((bar) => spokenOf(t, bar));
  return (
    <button
      ref={ref}
      type="button"
      className={classes.lane}
      aria-pressed={isChosen}
      data-lane={node.node_id}
      onClick={() => onChoose(node.node_id)}
    >
      <VisuallyHidden>{[label, t(`common.nodeStatus.${node.status}`), ...spoken].join(', ')}</VisuallyHidden>
      <span className={classes.name} style={{ paddingInlineStart: depth * 12 }} title={label} aria-hidden>
        <strong data-node-status={node.status}>{DOTS[node.status]}</strong>
        <span>{label}</span>
        {node.iterations !== undefined && <span className={classes.times}>×{node.iterations}</span>}
      </span>
      <span className={classes.track} aria-hidden data-track>
        {(isNear || !isOneOfMany) && <Bars lane={lane} />}
      </span>
      <span className={classes.number} aria-hidden>
        {length}
      </span>
      <span className={`${classes.number} ${classes.tokens}`} aria-hidden>
        {node.consumed_ai_tokens === 0 ? '' : node.consumed_ai_tokens.toLocaleString()}
      </span>
    </button>
  );
});

function Bars({ lane: { node, bars } }: { lane: Lane }) {
  const { scale, ticks } = useContext(ShownTime);
  return (
    <>
      {ticks.map(({ at, left }) => (
        <span key={at} className={classes.tick} style={{ left: `${left}%` }} />
      ))}
      {bars.map((bar) => (
        <BarMark key={`${bar.kind} ${bar.fromMs} ${bar.attempt}`} bar={bar} scale={scale} node={node} />
      ))}
    </>
  );
}

const DOTS: { readonly [S in NodeSummary['status']]: string } = {
  success: '✓',
  failed: '✕',
  skipped: '–',
  running: '▸',
  waiting: '…',
  cancelled: '⊘',
};

type Translate = TFunction;

function nameOf(t: Translate, { kind, count }: Bar): string {
  if (kind === 'iterations') return t('executions.timeline.iterations', { count });
  return t(`executions.timeline.kind.${kind}`);
}

function spokenOf(t: Translate, bar: Bar): string {
  return `${nameOf(t, bar)} ${formatDuration(bar.toMs - bar.fromMs)}`;
}

function BarMark({ bar, scale, node }: { bar: Bar; scale: Scale; node: NodeSummary }) {
  const { t, i18n } = useTranslation();
  const place = placeOf(bar, scale);
  if (place === null) return null;
  const { left, width } = place;
  // A loop's own lane shows its iterations, with a thin frame around them.
  const isFrame = bar.kind === 'run' && node.iteration_spans.length > 0;
  return (
    <span
      className={classes.bar}
      data-kind={isFrame ? 'frame' : bar.kind}
      data-state={stateOf(bar, node)}
      data-tooltip={describe(t, bar, i18n.language)}
      style={{ left: `min(${left}%, calc(100% - 3px))`, width: `${width}%` }}
    />
  );
}

function stateOf(bar: Bar, node: NodeSummary): string {
  if (bar.error !== undefined || bar.failed > 0) return 'failed';
  if (bar.isOpen) return bar.kind === 'run' ? 'open' : 'wait';
  return node.status === 'cancelled' && bar.kind === 'run' ? 'cancelled' : 'ended';
}

function describe(t: Translate, bar: Bar, language: string): string {
  const time = (ms: number) =>
    new Date(ms).toLocaleTimeString(language, {
      hour: 'numeric',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
    });
  const attempt =
    bar.attempt === null ? '' : `, ${t('executions.timeline.attempt', { attempt: bar.attempt })}`;
  const end = bar.isOpen ? t('executions.timeline.underWay') : time(bar.toMs);
  return [
    `${nameOf(t, bar)}${attempt}`,
    `${formatDuration(bar.toMs - bar.fromMs)} · ${time(bar.fromMs)} – ${end}`,
    ...(bar.failed > 0 ? [t('executions.timeline.failed', { count: bar.failed })] : []),
    ...(bar.error === undefined ? [] : [`${bar.error.code}: ${translateMessage(bar.error)}`]),
  ].join('\n');
}

/** The tooltip of the bar under the pointer; one for each of hundreds of bars would be slow. */
export function Hovered({ text, x, y }: { text: string; x: number; y: number }) {
  const isRight = x > window.innerWidth / 2;
  return (
    <Portal>
      <div
        className={classes.hovered}
        style={{
          top: y + 14,
          ...(isRight ? { right: window.innerWidth - x + 8 } : { left: x + 8 }),
        }}
      >
        {text}
      </div>
    </Portal>
  );
}
