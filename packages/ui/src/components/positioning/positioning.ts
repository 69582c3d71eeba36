import type * as Library from '@floating-ui/dom';
import { useEffect, useSyncExternalStore } from 'react';

let library: typeof Library | undefined;
/** What is opened is shown, wherever: without a connection it can't be positioned. */
let hasFailed = false;
const listeners = new Set<() => void>();

/** Loads what positions menus, lists of choices and hints. @returns undefined if it can't be loaded now */
export async function loadPositioning(): Promise<typeof Library | undefined> {
  if (library !== undefined) return library;
  try {
    library = await import('@floating-ui/dom');
  } catch {
    hasFailed = true;
  }
  for (const tell of listeners) tell();
  return library;
}

/** What is loaded by now. */
export const positioning = (): typeof Library | undefined => library;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const isLoaded = () => library !== undefined || hasFailed;

/** Whether what is to be shown can be positioned: what does that is loaded when it is first needed. */
export function useIsPlaceable(isOpen: boolean): boolean {
  const isReady = useSyncExternalStore(subscribe, isLoaded);
  useEffect(() => {
    if (isOpen) void loadPositioning();
  }, [isOpen]);
  return isOpen && isReady;
}
