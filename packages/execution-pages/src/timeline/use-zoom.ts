import { type KeyboardEvent, type RefObject, useEffect, useEffectEvent, useState } from 'react';
import { pan, type Scale, zoom } from './timeline-scale.ts';

const WHEEL_STEP = 1.25;

/** The time range shown by a chart. */
export type Zoom = ReturnType<typeof useZoom>;

/** Shows everything until zoomed: with buttons, the keys + - 0 and the arrows, or Ctrl and the wheel (without Ctrl, sideways). */
export function useZoom(whole: Scale, frame: RefObject<HTMLElement | null>) {
  const [part, setPart] = useState<Scale | null>(null);
  const shown = part ?? whole;
  /** A factor below 1 zooms in. */
  const zoomBy = (factor: number, aroundMs = (shown.fromMs + shown.toMs) / 2) =>
    setPart(zoom(shown, whole, factor, aroundMs));
  /** By a fraction of the visible range; negative moves to earlier times. */
  const move = (share: number) => setPart(part === null ? null : pan(part, whole, share));
  const onWheel = useEffectEvent((event: WheelEvent) => {
    const track = frame.current?.querySelector('[data-track]')?.getBoundingClientRect();
    if (track === undefined || track.width === 0) return;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const share = Math.max(0, Math.min(1, (event.clientX - track.left) / track.width));
      const aroundMs = shown.fromMs + share * (shown.toMs - shown.fromMs);
      zoomBy(event.deltaY > 0 ? WHEEL_STEP : 1 / WHEEL_STEP, aroundMs);
    } else if (part !== null && (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) {
      event.preventDefault();
      move((event.deltaX + (event.shiftKey ? event.deltaY : 0)) / track.width);
    }
  });
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    // React's wheel listeners are passive and can't keep the page from zooming.
    const listen = (event: WheelEvent) => onWheel(event);
    element.addEventListener('wheel', listen, { passive: false });
    return () => element.removeEventListener('wheel', listen);
  }, [frame]);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '+' || event.key === '=') zoomBy(0.5);
    else if (event.key === '-') zoomBy(2);
    else if (event.key === '0') setPart(null);
    else if (event.key === 'ArrowLeft') move(-0.25);
    else if (event.key === 'ArrowRight') move(0.25);
    else if (event.key === 'ArrowDown') goTo(event, 1);
    else if (event.key === 'ArrowUp') goTo(event, -1);
    else return;
    event.preventDefault();
  };
  return { shown, isZoomed: part !== null, zoomBy, move, reset: () => setPart(null), onKeyDown };
}

function goTo(event: KeyboardEvent<HTMLElement>, by: number): void {
  const lanes = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-lane]')];
  const at = lanes.findIndex((lane) => lane.contains(event.target as Node));
  lanes[at + by]?.focus();
}
