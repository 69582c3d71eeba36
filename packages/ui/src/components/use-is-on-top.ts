import { useEffect, useId, useSyncExternalStore } from 'react';

/** Dialogs that are open, the last one on top. */
let open: readonly string[] = [];
const readers = new Set<() => void>();

function change(next: readonly string[]): void {
  open = next;
  for (const read of readers) read();
}

function subscribe(read: () => void): () => void {
  readers.add(read);
  return () => readers.delete(read);
}

/** Whether no other dialog was opened from this one: Escape is for the one on top alone. */
export function useIsOnTop(isOpen = true): boolean {
  const id = useId();
  useEffect(() => {
    if (!isOpen) return;
    change([...open, id]);
    return () => change(open.filter((each) => each !== id));
  }, [id, isOpen]);
  return useSyncExternalStore(subscribe, () => open.at(-1) === id || !open.includes(id));
}
