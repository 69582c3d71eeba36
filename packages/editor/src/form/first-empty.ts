/** Fields that must not stay empty; see `FieldFrame`. */
const TO_FILL_IN = ['input', 'textarea', '.cm-content'].map((field) => `[data-to-fill] ${field}`).join(',');

/** Focuses the first field within an element that still has to be filled in. */
export function focusFirstEmpty(within: Element | null | undefined): void {
  within?.querySelector<HTMLElement>(TO_FILL_IN)?.focus();
}

/** Marks the element around all fields of a node. */
export const WHOLE_FORM = { 'data-form': true } as const;

/** The element around all fields of the node that an element belongs to. */
export function wholeFormOf(element: Element | null): Element | null {
  return element?.closest('[data-form]') ?? null;
}
