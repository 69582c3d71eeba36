import { useEffect } from 'react';

/** Temporary layers above the page. */
const LAYER = '[role="dialog"], [role="menu"], [role="listbox"]';

/** Mantine's attribute of a button that is disabled while it works. */
const WORKING = 'data-loading';

/**
 * Restores the focus when it has gone back to the top of the page: to where it was before a dialog or menu, however that was removed, and to a button
 * that was disabled while it worked. Mantine does so for dialogs that close, but not for those that unmount at once, as most dialogs do.
 */
export function useFocusReturn(): void {
  useEffect(() => {
    let latest: HTMLElement | null = null;
    let beforeLayer: HTMLElement | null = null;
    const remember = ({ target }: FocusEvent): void => {
      if (!(target instanceof HTMLElement)) return;
      latest = target;
      if (target.closest(LAYER) === null) beforeLayer = target;
    };
    const observer = new MutationObserver((records) => {
      if (document.activeElement !== document.body) return;
      const isGone = records.some(({ removedNodes }) => [...removedNodes].some(isLayer));
      if (isGone && beforeLayer?.isConnected === true) beforeLayer.focus();
      else if (records.some(({ type, target }) => type === 'attributes' && target === latest))
        focusAfterWork(latest);
    });
    document.addEventListener('focusin', remember);
    observer.observe(document.body, { childList: true, subtree: true, attributeFilter: [WORKING] });
    return () => {
      document.removeEventListener('focusin', remember);
      observer.disconnect();
    };
  }, []);
}

function isLayer(node: Node): boolean {
  return node instanceof Element && (node.matches(LAYER) || node.querySelector(LAYER) !== null);
}

/** A button that stays disabled, because nothing is left to do, isn't given the focus later either: keys would press it. */
function focusAfterWork(button: HTMLElement | null): void {
  if (button?.hasAttribute(WORKING) === false && !button.matches(':disabled')) button.focus();
}
