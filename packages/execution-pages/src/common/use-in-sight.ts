import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** Renders ahead of scrolling. */
const MARGIN_PX = 600;

const listeners = new WeakMap<Element, (isInSight: boolean) => void>();
let observer: IntersectionObserver | null = null;

/** One shared observer: there may be a thousand rows. */
function observe(element: Element, onChange: (isInSight: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) listeners.get(target)?.(isIntersecting);
    },
    { rootMargin: `${MARGIN_PX}px 0px` },
  );
  listeners.set(element, onChange);
  observer.observe(element);
  return () => observer?.unobserve(element);
}

/** Whether an element is in or near the viewport: others needn't be fully rendered. A focused element counts as visible. */
export function useInSight<Kind extends Element>(): readonly [RefObject<Kind | null>, boolean] {
  const ref = useRef<Kind>(null);
  const [isInSight, setIsInSight] = useState(false);
  // Before the first paint: the observer reports a frame later.
  useLayoutEffect(() => {
    const { top, bottom } = ref.current?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
    setIsInSight(bottom > -MARGIN_PX && top < window.innerHeight + MARGIN_PX);
  }, []);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    return observe(element, (isNear) => setIsInSight(isNear || element.contains(document.activeElement)));
  }, []);
  return [ref, isInSight];
}
