/** Whether lists and objects are nested deeper than `max`; stops at the first one too deep. The text needn't be valid JSON. */
export function jsonDepthExceeds(text: string, max: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      at = endOfString(text, at);
    } else if (char === 0x5b || char === 0x7b) {
      depth += 1;
      if (depth > max) return true;
    } else if (char === 0x5d || char === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}

/** Index of the quote that ends the string starting at `start`; the length of the text if none does. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x5c) at += 1;
    else if (char === 0x22) return at;
  }
  return text.length;
}
