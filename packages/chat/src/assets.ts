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

/** What a chat page consists of besides its texts, as it stands inside the page. */
export const CHAT_SCRIPT = `(() => {\nconst parts = {};\n${SCRIPTS.map(read).join('')}parts.chat();\n})();\n`;
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
