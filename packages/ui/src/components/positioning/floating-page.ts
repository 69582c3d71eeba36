// Stands in for `@floating-ui/react` in the page's build: Mantine positions with it, and nothing of it is needed until something is opened.
import type * as Library from '@floating-ui/dom';
import { type Ref, type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { loadInReserve } from '../load-in-reserve.ts';
import { loadPositioning, positioning } from './positioning.ts';

if (typeof document !== 'undefined') loadInReserve(loadPositioning);

/** A rule of positioning, made once there is what knows the rules. */
type Rule = (library: typeof Library) => Library.Middleware;

const ruleOf =
  <Name extends 'flip' | 'hide' | 'inline' | 'offset' | 'shift' | 'size'>(name: Name) =>
  (options?: Parameters<(typeof Library)[Name]>[0]): Rule =>
  (library) =>
    (library[name] as (options: unknown) => Library.Middleware)(options);

export const flip = ruleOf('flip');
export const hide = ruleOf('hide');
export const inline = ruleOf('inline');
export const offset = ruleOf('offset');
export const shift = ruleOf('shift');
export const size = ruleOf('size');

/** Where the arrow is, if one is drawn. */
export const arrow =
  ({ element, padding }: { element: RefObject<Element | null>; padding: Library.Padding }): Rule =>
  (library) => ({
    name: 'arrow',
    fn: (state) =>
      element.current === null ? {} : library.arrow({ element: element.current, padding }).fn(state),
  });

/** Rules ask for it when they are used, so it is loaded. */
export const limitShift = () => positioning()?.limitShift();

/** Keeps what is opened where it belongs while either moves. @returns ends that */
export function autoUpdate(reference: Element, floating: HTMLElement, update: () => void): () => void {
  let isOver = false;
  let stop: () => void = update;
  // It was opened although nothing can position it: at once, and not once the next try has failed, too.
  if (positioning() === undefined) update();
  void loadPositioning().then((library) => {
    if (isOver) return;
    if (library === undefined) update();
    else stop = library.autoUpdate(reference, floating, update);
  });
  return () => {
    isOver = true;
    if (stop !== update) stop();
  };
}

interface Options {
  readonly open?: boolean;
  readonly placement?: Library.Placement;
  readonly strategy?: Library.Strategy;
  readonly middleware?: readonly Rule[];
  readonly whileElementsMounted?: typeof autoUpdate;
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly placement: Library.Placement;
  readonly middlewareData: Library.MiddlewareData;
}

/** On its side, wherever that is: at least nobody has to look for what they have opened. */
function placeBeside(reference: Element, shown: HTMLElement, placement: Library.Placement): Place {
  const { left, right, top, bottom } = reference.getBoundingClientRect();
  const side = placement.split('-')[0];
  const x = side === 'right' ? right : side === 'left' ? left - shown.offsetWidth : left;
  const y = side === 'bottom' ? bottom : side === 'top' ? top - shown.offsetHeight : top;
  return { x: x + window.scrollX, y: y + window.scrollY, placement, middlewareData: {} };
}

const isSame = (a: Place, b: Place) => JSON.stringify(a) === JSON.stringify(b);

/** Where something that is opened belongs, next to its reference. */
export function useFloating({
  open,
  placement = 'bottom',
  strategy = 'absolute',
  middleware,
  whileElementsMounted,
}: Options) {
  const [place, setPlace] = useState<Place>({ x: 0, y: 0, placement, middlewareData: {} });
  const [isPositioned, setIsPositioned] = useState(false);
  const [elements, setElements] = useState<{ reference: Element | null; floating: HTMLElement | null }>({
    reference: null,
    floating: null,
  });
  const reference = useRef<Element | null>(null);
  const floating = useRef<HTMLElement | null>(null);
  const latest = useRef({ open, middleware, place, isPositioned });
  useLayoutEffect(() => {
    latest.current = { open, middleware, place, isPositioned };
  });
  const setReference = useCallback((node: Element | null) => {
    reference.current = node;
    setElements((before) => (before.reference === node ? before : { ...before, reference: node }));
  }, []);
  const setFloating = useCallback((node: HTMLElement | null) => {
    floating.current = node;
    setElements((before) => (before.floating === node ? before : { ...before, floating: node }));
  }, []);
  const update = useCallback(() => {
    const [target, shown] = [reference.current, floating.current];
    if (target === null || shown === null) return;
    const library = positioning();
    const rules = library === undefined ? [] : (latest.current.middleware ?? []).map((rule) => rule(library));
    const placing =
      library === undefined
        ? Promise.resolve(placeBeside(target, shown, placement))
        : library.computePosition(target, shown, { placement, strategy, middleware: rules });
    void placing.then(({ x, y, placement: found, middlewareData }) => {
      const next = { x, y, placement: found, middlewareData };
      // Meanwhile it was closed and left the page, or it is closing: then it isn't placed for the next time.
      if (floating.current !== shown) return;
      const isOpen = latest.current.open !== false;
      if (isSame(next, latest.current.place) && isOpen === latest.current.isPositioned) return;
      // Before it is painted.
      flushSync(() => {
        setPlace(next);
        setIsPositioned(isOpen);
      });
    });
  }, [placement, strategy]);
  useLayoutEffect(() => {
    if (open === false) setIsPositioned(false);
  }, [open]);
  const hasWhile = whileElementsMounted !== undefined;
  useLayoutEffect(() => {
    if (elements.reference === null || elements.floating === null) return;
    if (hasWhile) return autoUpdate(elements.reference, elements.floating, update);
    update();
  }, [elements, update, hasWhile]);
  const refs = useMemo(
    () => ({ reference, floating, setReference, setFloating }),
    [setReference, setFloating],
  );
  return { ...place, strategy, isPositioned, refs, elements, update };
}

/** One function for several references to an element. */
export function useMergeRefs<Node>(refs: readonly (Ref<Node> | undefined)[]) {
  return useCallback((node: Node | null) => {
    for (const ref of refs) {
      if (typeof ref === 'function') ref(node);
      else if (ref) ref.current = node;
    }
  }, refs);
}

/** Of components that no page uses: the build fails if one names them. */
function leftOut(): never {
  throw new Error('It is left out of the build: see packages/ui/src/components/positioning');
}

export {
  leftOut as FloatingDelayGroup,
  leftOut as getOverflowAncestors,
  leftOut as safePolygon,
  leftOut as useDelayGroup,
  leftOut as useDismiss,
  leftOut as useFocus,
  leftOut as useHover,
  leftOut as useInteractions,
  leftOut as useRole,
};
