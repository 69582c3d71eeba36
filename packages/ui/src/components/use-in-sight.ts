import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** Renders ahead of scrolling. */
const MARGIN_PX = 600;

const listeners = new WeakMap<Element, (isInSight: boolean) => void>();
const observers = new Map<number, IntersectionObserver>();

/** One shared observer: there may be a thousand rows. */
function observe(element: Element, margin: number, onChange: (isInSight: boolean) => void): () => void {
  const known = observers.get(margin);
  const observer =
    known ??
    new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) listeners.get(target)?.(isIntersecting);
      },
      { rootMargin: `${margin}px 0px` },
    );
  observers.set(margin, observer);
  listeners.set(element, onChange);
  observer.observe(element);
  return () => observer.unobserve(element);
}

/**
 * Whether an element is in or near the viewport: others needn't be fully rendered. A focused element counts as visible.
 * @param margin pixels above and below that are near
 */
export function useInSight<Kind extends Element>(
  margin = MARGIN_PX,
): readonly [RefObject<Kind | null>, boolean] {
  const ref = useRef<Kind>(null);
  const [isInSight, setIsInSight] = useState(false);
  // Before the first paint: the observer reports a frame later.
  useLayoutEffect(() => {
    const { top, bottom } = ref.current?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
    setIsInSight(bottom > -margin && top < window.innerHeight + margin);
  }, [margin]);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    return observe(element, margin, (isNear) =>
      setIsInSight(isNear || element.contains(document.activeElement)),
    );
  }, [margin]);
  return [ref, isInSight];
}
