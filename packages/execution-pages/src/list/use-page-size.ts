import { useLocalStorage } from '@mantine/hooks';

/** What a window shows, up to what the service allows. */
export const PAGE_SIZES = [25, 50, 100, 200] as const;
const USUAL = 50;

/** How many executions are loaded at a time, as chosen in this browser. */
export function usePageSize(): readonly [number, (size: number) => void] {
  const [stored, store] = useLocalStorage<number>({
    key: 'millrace.executions.page-size',
    defaultValue: USUAL,
    getInitialValueInEffect: false,
  });
  // Anything may be stored there.
  return [PAGE_SIZES.find((size) => size === stored) ?? USUAL, store];
}
