import { type RefObject, useEffect, useRef, useState } from 'react';

/** Before it is scrolled to, something has to be up to date. */
const MARGIN = '300px';

const tellers = new WeakMap<Element, (isInSight: boolean) => void>();
let observer: IntersectionObserver | null = null;

/** One observer for all: there may be a thousand rows. */
function observe(element: Element, tell: (isInSight: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) tellers.get(target)?.(isIntersecting);
    },
    { rootMargin: MARGIN },
  );
  tellers.set(element, tell);
  observer.observe(element);
  return () => observer?.unobserve(element);
}

/** Whether an element can be seen: what cannot need not be kept up to date by the second. */
export function useInSight<Kind extends Element>(): readonly [RefObject<Kind | null>, boolean] {
  const ref = useRef<Kind>(null);
  const [isInSight, setIsInSight] = useState(true);
  useEffect(() => (ref.current === null ? undefined : observe(ref.current, setIsInSight)), []);
  return [ref, isInSight];
}
