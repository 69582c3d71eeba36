import { useEffect } from 'react';

/** What lies above the page and goes away again. */
const LAYER = '[role="dialog"], [role="menu"], [role="listbox"]';

/**
 * Brings the focus back to where it was before a dialog or menu, however that was taken away. Mantine does so for those that
 * are closed, but not for those that are gone at once, as most dialogs are; the focus would be at the top of the page again.
 */
export function useFocusReturn(): void {
  useEffect(() => {
    let last: HTMLElement | null = null;
    const remember = ({ target }: FocusEvent): void => {
      if (target instanceof HTMLElement && target.closest(LAYER) === null) last = target;
    };
    const observer = new MutationObserver((records) => {
      if (document.activeElement !== document.body || last?.isConnected !== true) return;
      const isGone = records.some(({ removedNodes }) => [...removedNodes].some(isLayer));
      if (isGone) last.focus();
    });
    document.addEventListener('focusin', remember);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      document.removeEventListener('focusin', remember);
      observer.disconnect();
    };
  }, []);
}

function isLayer(node: Node): boolean {
  return node instanceof Element && (node.matches(LAYER) || node.querySelector(LAYER) !== null);
}
