import { useEffect } from 'react';

/** Temporary layers above the page. */
const LAYER = '[role="dialog"], [role="menu"], [role="listbox"]';

/**
 * Restores the focus to where it was before a dialog or menu, however that was removed. Mantine does so for those that
 * close, but not for those that unmount at once, as most dialogs do: the focus would go back to the top of the page.
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
