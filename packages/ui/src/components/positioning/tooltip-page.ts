// Stands in for what opens Mantine's tooltips in the page's build: with the mouse, by keyboard, and if wanted by touch.
import type { Placement, Strategy } from '@floating-ui/dom';
import { type HTMLProps, type RefObject, useCallback, useEffect, useId, useState } from 'react';
import { arrow, autoUpdate, flip, hide, inline, offset, shift, useFloating } from './floating-page.ts';
import { loadPositioning, useIsPlaceable } from './positioning.ts';

interface Settings {
  readonly position: Placement;
  readonly strategy?: Strategy;
  readonly offset: Parameters<typeof offset>[0];
  readonly inline?: boolean;
  readonly arrowRef: RefObject<HTMLElement | null>;
  readonly arrowOffset: number;
  readonly middlewares?: { readonly [name in 'flip' | 'shift' | 'inline']?: boolean | object };
  readonly opened?: boolean;
  readonly defaultOpened?: boolean;
  readonly disabled?: boolean;
  readonly openDelay?: number;
  readonly closeDelay?: number;
  readonly events?: { readonly hover?: boolean; readonly focus?: boolean; readonly touch?: boolean };
  readonly hideDetached?: boolean;
}

type Rules = Parameters<typeof useFloating>[0]['middleware'];

const optionsOf = (given: boolean | object | undefined) => (typeof given === 'object' ? given : {});

function rulesOf({ middlewares = {}, ...settings }: Settings): NonNullable<Rules> {
  return [
    offset(settings.offset),
    hide(),
    ...(middlewares.shift === false ? [] : [shift({ padding: 8, ...optionsOf(middlewares.shift) })]),
    ...(middlewares.flip === false ? [] : [flip(optionsOf(middlewares.flip))]),
    arrow({ element: settings.arrowRef, padding: settings.arrowOffset }),
    ...(middlewares.inline || settings.inline ? [inline(optionsOf(middlewares.inline))] : []),
  ];
}

interface Openers {
  readonly openDelay: number;
  readonly closeDelay: number;
  readonly isByHover: boolean;
  readonly isByFocus: boolean;
  readonly isByTouch: boolean;
}

/** Listens to what opens and closes it. @returns ends that */
function listen(target: Element, set: (isOpen: boolean) => void, by: Openers): () => void {
  let timer = 0;
  /** By touch, browsers tell of a mouse as well. */
  let isMouse = true;
  const end = new AbortController();
  const on = (type: string, act: (event: Event) => void) =>
    target.addEventListener(type, act, { signal: end.signal });
  const setLater = (isOpen: boolean, delay: number) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => set(isOpen), delay);
  };
  if (by.isByHover) {
    const notePointer = (event: Event) => {
      isMouse = (event as PointerEvent).pointerType !== 'touch';
    };
    const enter = () => {
      if (!isMouse && !by.isByTouch) return;
      void loadPositioning();
      setLater(true, by.openDelay);
    };
    on('pointerdown', notePointer);
    on('pointerenter', notePointer);
    on('mouseenter', enter);
    // It has appeared under the pointer.
    target.addEventListener('mousemove', enter, { once: true, signal: end.signal });
    on('mouseenter', () => target.removeEventListener('mousemove', enter));
    on('mouseleave', () => setLater(false, by.closeDelay));
  }
  if (by.isByFocus) {
    on('focusin', (event) => {
      if ((event.target as Element).matches(':focus-visible')) set(true);
    });
    on('focusout', () => setLater(false, 0));
  }
  return () => {
    clearTimeout(timer);
    end.abort();
  };
}

/** Closes it with Escape, and by pressing elsewhere. @returns ends that */
function dismiss(target: Element | null, floating: Element | null, close: () => void): () => void {
  const end = new AbortController();
  const { signal } = end;
  document.addEventListener(
    'keydown',
    ({ key, isComposing }) => key === 'Escape' && !isComposing && close(),
    {
      signal,
    },
  );
  document.addEventListener(
    'pointerdown',
    ({ target: pressed }) => {
      const isInside = [target, floating].some((element) => element?.contains(pressed as Node));
      if (!isInside) close();
    },
    { signal },
  );
  return () => end.abort();
}

/** Opens and positions a tooltip. */
export function useTooltip(settings: Settings) {
  const { opened: given, disabled = false, events, openDelay = 0, closeDelay = 0 } = settings;
  const [own, setOwn] = useState(settings.defaultOpened ?? false);
  const isWanted = !disabled && (given ?? own);
  const opened = useIsPlaceable(isWanted);
  const id = useId();
  useEffect(() => {
    if (disabled) setOwn(false);
  }, [disabled]);
  const { x, y, refs, elements, placement, middlewareData } = useFloating({
    open: opened,
    placement: settings.position,
    ...(settings.strategy === undefined ? {} : { strategy: settings.strategy }),
    middleware: rulesOf(settings),
    whileElementsMounted: autoUpdate,
  });
  const { reference, floating } = elements;
  const isByHover = !disabled && events?.hover === true;
  const isByFocus = !disabled && events?.focus === true;
  const isByTouch = events?.touch === true;
  useEffect(() => {
    if (reference === null) return;
    return listen(reference, setOwn, { openDelay, closeDelay, isByHover, isByFocus, isByTouch });
  }, [reference, openDelay, closeDelay, isByHover, isByFocus, isByTouch]);
  useEffect(() => {
    if (!opened || given !== undefined) return;
    return dismiss(reference, floating, () => setOwn(false));
  }, [opened, given, reference, floating]);
  const getReferenceProps = useCallback(
    (props: HTMLProps<Element>) => (opened ? { ...props, 'aria-describedby': id } : props),
    [opened, id],
  );
  const getFloatingProps = useCallback(
    (props: HTMLProps<HTMLElement>) => ({ ...props, id, role: 'tooltip', tabIndex: -1 }),
    [id],
  );
  return {
    x,
    y,
    arrowX: middlewareData.arrow?.x,
    arrowY: middlewareData.arrow?.y,
    reference: refs.setReference,
    floating: refs.setFloating,
    getReferenceProps,
    getFloatingProps,
    isGroupPhase: false,
    opened,
    placement,
    referenceHidden: settings.hideDetached === true && middlewareData.hide?.referenceHidden === true,
  };
}
