/** The primary pointer is a finger. */
export const FINGER = '(pointer: coarse)';

/**
 * A node, note, edge or handle id that is safe for React Flow, which puts ids into selectors unescaped. Ids may be any
 * string, and a quotation mark in one crashed the whole page, so characters that would end the selector's string are
 * percent-encoded.
 */
export function toCanvasId(id: string): string {
  return id.replace(/["\\%\p{Cc}]/gu, (character) => {
    return `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

/** The inverse of {@link toCanvasId}. */
export function fromCanvasId(canvasId: string): string {
  return canvasId.replace(/%([0-9a-f]{2})/g, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
