import { Group } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { formatDuration, formatRoundTime } from '@millrace/ui/components/time.tsx';
import { ChevronLeft, ChevronRight, Maximize2, ZoomIn, ZoomOut } from 'lucide-react';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './timeline.module.css';
import { Hovered, ShownTime, type Tick, TimelineLane } from './timeline-lane.tsx';
import type { TimelineProps } from './timeline-props.ts';
import { type Lane, type Scale, scaleOf, ticksOf } from './timeline-scale.ts';
import { useZoom, type Zoom } from './use-zoom.ts';

/** Pixels between ticks: room for a label such as `1 min 30 s`. */
const TICK_DISTANCE = 72;
const MANY_LANES = 100;
const KINDS = ['run', 'retry', 'delay', 'signal', 'host'] as const;

/** A zoomable lane per node with its activity; arrow keys move between lanes. */
export function TimelineChart({
  lanes,
  tokens,
  labels,
  chosen,
  onChoose,
}: TimelineProps & { lanes: readonly Lane[]; tokens: number }) {
  const { t } = useTranslation();
  const whole = scaleOf(lanes);
  const frame = useRef<HTMLDivElement>(null);
  const view = useZoom(whole, frame);
  const [hover, setHover] = useState<{
    readonly text: string;
    readonly x: number;
    readonly y: number;
  } | null>(null);
  const track = useElementSize<HTMLSpanElement>();
  const ticks = placeTicks(view.shown, whole.fromMs, track.width);
  const time = { scale: view.shown, ticks };
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: its lanes are buttons; keys they don't handle bubble up here */}
      <div
        ref={frame}
        className={classes.chart}
        data-tokens={tokens > 0 || undefined}
        onKeyDown={view.onKeyDown}
        onMouseMove={(event) => {
          const text = (event.target as HTMLElement).dataset.tooltip;
          setHover(text === undefined ? null : { text, x: event.clientX, y: event.clientY });
        }}
        onMouseLeave={() => setHover(null)}
      >
        <div className={classes.axis} aria-hidden>
          <span>{t('executions.timeline.node')}</span>
          <span ref={track.ref} className={classes.track} data-track>
            {ticks.map(({ at, left }, index) => (
              <span
                key={at}
                className={classes.tick}
                style={{ left: `${left}%`, right: `${100 - (ticks[index + 1]?.left ?? 100)}%` }}
              >
                <span>{formatRoundTime(at)}</span>
              </span>
            ))}
          </span>
          <span className={classes.number}>{t('executions.timeline.duration')}</span>
          <span className={`${classes.number} ${classes.tokens}`}>{t('executions.node.tokens')}</span>
        </div>
        <div className={classes.lanes} {...(lanes.length > MANY_LANES ? { 'data-many': true } : {})}>
          <ShownTime value={time}>
            {lanes.map((lane) => (
              <TimelineLane
                key={lane.node.node_id}
                lane={lane}
                label={labels.get(lane.node.node_id) ?? lane.node.node_id}
                isChosen={chosen === lane.node.node_id}
                isOneOfMany={lanes.length > MANY_LANES}
                onChoose={onChoose}
              />
            ))}
          </ShownTime>
        </div>
        <div className={`${classes.axis} ${classes.sum}`}>
          <span>{t('executions.timeline.total')}</span>
          <span />
          <span className={classes.number}>{formatDuration(whole.toMs - whole.fromMs)}</span>
          <span className={`${classes.number} ${classes.tokens}`}>
            {tokens === 0 ? '' : tokens.toLocaleString()}
          </span>
        </div>
      </div>
      {hover !== null && <Hovered {...hover} />}
      <Group justify="space-between" gap="xs" align="flex-start">
        <Legend lanes={lanes} />
        <ZoomTools view={view} />
      </Group>
      <Hint visibleFrom="sm">{t('executions.timeline.keys')}</Hint>
    </>
  );
}

/** @param width of the track in pixels */
function placeTicks(shown: Scale, zeroMs: number, width: number): readonly Tick[] {
  return ticksOf(shown, zeroMs, Math.max(1, Math.floor(width / TICK_DISTANCE))).map((at) => ({
    at,
    left: ((at + zeroMs - shown.fromMs) / (shown.toMs - shown.fromMs)) * 100,
  }));
}

function ZoomTools({ view }: { view: Zoom }) {
  const { t } = useTranslation();
  const tools = [
    { icon: ChevronLeft, label: t('executions.timeline.earlier'), act: () => view.move(-0.5) },
    { icon: ChevronRight, label: t('executions.timeline.later'), act: () => view.move(0.5) },
    { icon: ZoomOut, label: t('executions.timeline.zoomOut'), act: () => view.zoomBy(2) },
    { icon: ZoomIn, label: t('executions.timeline.zoomIn'), act: () => view.zoomBy(0.5), isAlwaysOn: true },
    { icon: Maximize2, label: t('executions.timeline.all'), act: view.reset },
  ];
  return (
    <Group gap={2} role="toolbar" aria-label={t('executions.timeline.zoom')}>
      <Hint role="status" className={classes.number}>
        {view.isZoomed && formatDuration(view.shown.toMs - view.shown.fromMs)}
      </Hint>
      {tools.map(({ icon, label, act, isAlwaysOn = false }) => (
        <IconButton
          key={label}
          icon={icon}
          size="sm"
          label={label}
          onClick={act}
          disabled={!view.isZoomed && !isAlwaysOn}
        />
      ))}
    </Group>
  );
}

function Legend({ lanes }: { lanes: readonly Lane[] }) {
  const { t } = useTranslation();
  const bars = lanes.flatMap((lane) => lane.bars);
  const used = new Set(bars.map(({ kind }) => (kind === 'iterations' ? 'run' : kind)));
  return (
    <div className={classes.legend} aria-hidden>
      {KINDS.filter((kind) => used.has(kind)).map((kind) => (
        <span key={kind}>
          <i className={`${classes.bar} ${classes.swatch}`} data-kind={kind} />
          {t(`executions.timeline.kind.${kind}`)}
        </span>
      ))}
      {bars.some(({ error, failed }) => error !== undefined || failed > 0) && (
        <span>
          <i className={`${classes.bar} ${classes.swatch}`} data-kind="run" data-state="failed" />
          {t('common.nodeStatus.failed')}
        </span>
      )}
    </div>
  );
}
