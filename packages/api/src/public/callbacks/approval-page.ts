import { createHash } from 'node:crypto';
import { escapeHtml } from '@millrace/http/html';
import { message } from '@millrace/messages';
import type { Choice } from '@millrace/service/callbacks/store';
import { named, type Reader } from './approval-texts.ts';

export type ApprovalPage =
  | {
      readonly kind: 'open';
      readonly title: string;
      readonly message: string;
      readonly choices: readonly Choice[];
      /** Id of the choice preselected by a link; null for none. */
      readonly ready: string | null;
      readonly expiresAt: Date;
      /** What was wrong with the submitted form. */
      readonly problem: string | null;
    }
  | { readonly kind: 'closed'; readonly title: string; readonly heading: string; readonly text: string };

export const MAX_COMMENT = 5_000;
export const MAX_NAME = 200;

const STYLE = `
:root { color-scheme: light dark; --line: #c9ced6; --soft: #5b6472; --main: #1f5fbf; --on-main: #fff; --bad: #a3261d; }
@media (prefers-color-scheme: dark) {
  :root { --line: #454c57; --soft: #a3acb9; --main: #7fb0ff; --on-main: #10151c; --bad: #ff9a90; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 40rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.4rem; line-height: 1.3; margin: 0 0 1rem; overflow-wrap: anywhere; }
.message { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 1.5rem; }
.note { color: var(--soft); font-size: .9rem; }
.problem { color: var(--bad); font-weight: 600; }
label { display: block; font-weight: 600; margin: 1rem 0 .25rem; }
textarea, input { width: 100%; font: inherit; padding: .6rem; border: 1px solid var(--line); border-radius: .4rem; }
textarea { min-height: 6rem; resize: vertical; }
.choices { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0 1rem; }
button { flex: 1 1 10rem; min-height: 3rem; padding: .6rem 1rem; font: inherit; font-weight: 600; cursor: pointer;
  overflow-wrap: anywhere; border: 1px solid var(--line); border-radius: .4rem; background: none; color: inherit; }
button.ready { background: var(--main); border-color: var(--main); color: var(--on-main); }
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Runs and loads nothing, and the form can only be submitted to this origin. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The whole page as HTML, in the reader's language; all foreign content is escaped. */
export function renderPage(page: ApprovalPage, reader: Reader): string {
  const body = page.kind === 'open' ? renderForm(page, reader) : renderClosed(page);
  return `<!doctype html>
<html lang="${reader.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${escapeHtml(page.title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

/** Placeholder in the note for the time, which is a separate element. */
const UNTIL = '\0';

function renderForm(page: Extract<ApprovalPage, { kind: 'open' }>, reader: Reader): string {
  const { say } = reader;
  const [before, after] = say(message('approval.note', { until: UNTIL })).split(UNTIL);
  const problem =
    page.problem === null ? '' : `<p class="problem" role="alert">${escapeHtml(page.problem)}</p>\n`;
  const text = page.message === '' ? '' : `<p class="message">${escapeHtml(page.message)}</p>\n`;
  return `<h1>${escapeHtml(page.title)}</h1>
${problem}${text}<form method="post" action="?">
<label for="comment">${say(message('approval.comment'))}</label>
<textarea id="comment" name="comment" maxlength="${MAX_COMMENT}"></textarea>
<label for="name">${say(message('approval.name'))}</label>
<input id="name" name="name" maxlength="${MAX_NAME}" autocomplete="name">
<div class="choices">
${page.choices.map((choice) => renderButton(named(choice, reader), page.ready)).join('\n')}
</div>
</form>
<p class="note">${before}${formatTime(page.expiresAt)}${after}</p>`;
}

function renderButton({ id, label }: Choice, ready: string | null): string {
  const isReady = id === ready ? ' class="ready" autofocus' : '';
  return `<button type="submit" name="choice" value="${escapeHtml(id)}"${isReady}>${escapeHtml(label)}</button>`;
}

function renderClosed({ heading, text }: Extract<ApprovalPage, { kind: 'closed' }>): string {
  return `<h1>${escapeHtml(heading)}</h1>
<p class="message">${escapeHtml(text)}</p>`;
}

function formatTime(moment: Date): string {
  return `<time datetime="${moment.toISOString()}">${moment.toISOString().slice(0, 16).replace('T', ' ')} UTC</time>`;
}
