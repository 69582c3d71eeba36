import { Box } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { loadInReserve } from './load-in-reserve.ts';
import { useInSight } from './use-in-sight.ts';

/** Less than this at the edge of the window isn't in sight yet. */
const EDGE_PX = 64;

/**
 * Something large that is further down on a page: it is loaded when it comes into sight, or else once the page is complete. Its place is kept free.
 * @param load loads the code of `children`; the same function each time
 */
export function WhenInSight({
  height,
  load,
  children,
}: {
  height: number;
  load: () => Promise<unknown>;
  children: ReactNode;
}) {
  const [ref, isInSight] = useInSight<HTMLDivElement>(-EDGE_PX);
  const [isWanted, setIsWanted] = useState(false);
  if (isInSight && !isWanted) setIsWanted(true);
  useEffect(() => {
    if (isWanted) return;
    return loadInReserve(async () => {
      await load();
      setIsWanted(true);
    });
  }, [isWanted, load]);
  return isWanted ? children : <Box ref={ref} h={height} />;
}
