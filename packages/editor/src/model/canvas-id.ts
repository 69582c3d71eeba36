/** A finger is what points first. */
export const FINGER = '(pointer: coarse)';

/**
 * How the canvas calls a node, a note, an edge or a handle. React Flow looks for its elements with selectors that hold
 * ids as they are, and an id may be any text: a quotation mark in one ended the whole page. So whatever would end the
 * text of a selector is written with a percent sign.
 */
export function toCanvasId(id: string): string {
  return id.replace(/["\\%\p{Cc}]/gu, (character) => {
    return `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

/** What {@link toCanvasId} was given. */
export function fromCanvasId(canvasId: string): string {
  return canvasId.replace(/%([0-9a-f]{2})/g, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
