import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const read = (file: URL): string => readFileSync(file, 'utf8');

/** By subject. Each puts a function into `parts`; the last one, the frame, calls the others. */
const SCRIPTS = [
  new URL('client/session.js', import.meta.url),
  new URL('client/markup.js', import.meta.url),
  new URL('client/log.js', import.meta.url),
  new URL('client/files.js', import.meta.url),
  new URL('client/questions.js', import.meta.url),
  new URL('client/answers.js', import.meta.url),
  new URL('client/chat.js', import.meta.url),
];

/** The library that reads Markdown, as its package builds it for browsers: what a module exports becomes a constant of the page's script. */
const MARKDOWN = read(
  new URL('../../../node_modules/markdown-it/dist/browser/markdown-it.umd.min.js', import.meta.url),
)
  .replace(/\n?\/\/# sourceMappingURL=.*/, '')
  // Inside a page, it would begin a comment.
  .replaceAll('<!--', '\\x3C!--');

/** What a chat page consists of besides its texts, as it stands inside the page. */
export const CHAT_SCRIPT = `(() => {
const markdownit = ((exports, module) => {\n${MARKDOWN}\nreturn module.exports;\n})({}, { exports: {} });
const parts = {};
${SCRIPTS.map(read).join('')}parts.chat();
})();
`;
export const CHAT_STYLE = read(new URL('client/chat.css', import.meta.url));
const EMBED_SCRIPT = read(new URL('client/embed.js', import.meta.url));

/** What the script on other websites knows of a chat. */
export interface EmbedSettings {
  readonly isAllowed: boolean;
  readonly url: string;
  readonly title: string;
  /** Texts of the button. */
  readonly open: string;
  readonly close: string;
}

/** The script that other websites include. */
export function embedScript(settings: EmbedSettings): string {
  return `{const millraceChat=${JSON.stringify(settings)};\n${EMBED_SCRIPT}}\n`;
}

/** Identifies an inline script or style in a content security policy. */
export function policyHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
