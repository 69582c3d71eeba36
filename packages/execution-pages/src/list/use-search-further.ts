import { useEffect, useRef, useState } from 'react';
import type { useExecutions } from './use-executions.ts';

type List = ReturnType<typeof useExecutions>['list'];

/**
 * Searches further back, page by page, until there is a match, the end is reached or the user stops it. An empty list
 * does so automatically.
 */
export function useSearchFurther(list: List, isEmpty: boolean) {
  const [isOn, setIsOn] = useState(false);
  const [wasStopped, setWasStopped] = useState(false);
  const run = useRef(0);
  const stop = () => {
    run.current += 1;
    setIsOn(false);
    setWasStopped(true);
  };
  const begin = async () => {
    run.current += 1;
    const mine = run.current;
    setIsOn(true);
    setWasStopped(false);
    for (;;) {
      const { data, hasNextPage, isError } = await list.fetchNextPage();
      if (run.current !== mine) return;
      if (isError || !hasNextPage || (data?.pages.at(-1)?.items.length ?? 1) > 0) break;
    }
    setIsOn(false);
  };
  const isShort = list.isSuccess && !list.isPlaceholderData && list.hasNextPage && isEmpty;
  const beginsItself = isShort && !isOn && !wasStopped;
  useEffect(() => {
    if (beginsItself) void begin();
  }, [beginsItself]);
  useEffect(
    () => () => {
      run.current += 1;
    },
    [],
  );
  return { isOn, begin: () => void begin(), stop };
}
