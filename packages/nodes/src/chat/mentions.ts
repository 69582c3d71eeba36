/** Shows nothing and takes no room, and what it stands in is no command any more. */
const ZERO_WIDTH_SPACE = '\u200b';

/** Makes `@name` at the beginning of a word a mere text; addresses of e-mail stay as they are. */
export function disarmAtSigns(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}._%+-])@(?=[\p{L}\p{N}_])/gu, `@${ZERO_WIDTH_SPACE}`);
}

/** Makes every match of a pattern a mere text by parting its first character from the rest. */
export function disarm(text: string, pattern: RegExp): string {
  return text.replace(pattern, (match) => `${match.slice(0, 1)}${ZERO_WIDTH_SPACE}${match.slice(1)}`);
}

/** `&`, `<` and `>` as entities, as HTML and Slack want them. */
export function escapeEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A text for an attribute of HTML. */
export function escapeAttribute(text: string): string {
  return escapeEntities(text).replaceAll('"', '&quot;');
}

/** Markdown that shows the text as it is. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_~[\]()#|>]/g, (mark) => `\\${mark}`);
}
