/** Invisible and without width; it breaks up commands. */
const ZERO_WIDTH_SPACE = '\u200b';

/** Makes `@name` at the start of a word plain text; email addresses are left alone. */
export function disarmAtSigns(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}._%+-])@(?=[\p{L}\p{N}_])/gu, `@${ZERO_WIDTH_SPACE}`);
}

/** Makes every match of a pattern plain text by separating its first character from the rest. */
export function disarm(text: string, pattern: RegExp): string {
  return text.replace(pattern, (match) => `${match.slice(0, 1)}${ZERO_WIDTH_SPACE}${match.slice(1)}`);
}

/** `&`, `<` and `>` as entities, for HTML and Slack. */
export function escapeEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Escapes a string for an HTML attribute. */
export function escapeAttribute(text: string): string {
  return escapeEntities(text).replaceAll('"', '&quot;');
}

/** Escapes a string so that Markdown shows it literally. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_~[\]()#|>]/g, (mark) => `\\${mark}`);
}
