import { useLocalStorage } from '@mantine/hooks';
import { type KeyboardEvent, type PointerEvent, useRef } from 'react';

const KEY_STEP = 24;

interface PanelSize {
  /** In pixels. */
  readonly size: number;
  readonly min: number;
  readonly max: number;
  readonly onResize: (size: number) => void;
}

/** A panel's size, remembered in this browser, as its splitter takes it. */
export function usePanelSize(
  name: string,
  { fallback, min, max }: { readonly fallback: number; readonly min: number; readonly max: number },
): PanelSize {
  const [size, setSize] = useLocalStorage({
    key: `millrace.editor.${name}`,
    defaultValue: fallback,
    getInitialValueInEffect: false,
  });
  const within = (value: number) => Math.min(max, Math.max(min, value));
  return {
    size: within(Number.isFinite(size) ? size : fallback),
    min,
    max,
    onResize: (value) => setSize(within(value)),
  };
}

/** A separator, moved by dragging or with the arrow keys. It resizes the panel after it. */
export function Splitter({
  direction,
  label,
  size,
  min,
  max,
  onResize,
}: PanelSize & {
  /** `column`: the panel at the right; `row`: the panel below. */
  direction: 'column' | 'row';
  label: string;
}) {
  const from = useRef<{ readonly at: number; readonly size: number } | null>(null);
  const at = (event: PointerEvent) => (direction === 'column' ? event.clientX : event.clientY);
  const onKeyDown = ({ key }: KeyboardEvent) => {
    const [more, less] = direction === 'column' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
    if (key === more) onResize(size + KEY_STEP);
    if (key === less) onResize(size - KEY_STEP);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an hr cannot be moved
    <div
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={direction === 'column' ? 'vertical' : 'horizontal'}
      aria-valuenow={size}
      aria-valuemin={min}
      aria-valuemax={max}
      className={`editor-splitter is-${direction}`}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { at: at(event), size };
      }}
      onPointerMove={(event) => {
        if (from.current !== null) onResize(from.current.size + from.current.at - at(event));
      }}
      onPointerUp={() => {
        from.current = null;
      }}
    />
  );
}
